// What a mark of a chart stands for, shown beside the mark while it is pointed at or focused.

const tip = element("div", { class: "tip", role: "status", hidden: "" });

function showTip(mark, ...parts) {
  const figure = mark.closest("figure");
  figure.append(tip);
  tip.replaceChildren(...parts);
  tip.hidden = false;
  const inside = figure.getBoundingClientRect();
  const at = mark.getBoundingClientRect();
  const own = tip.getBoundingClientRect();
  const middle = at.left + at.width / 2 - inside.left - own.width / 2;
  const above = at.top - inside.top - own.height - 8;
  const onScreen = at.top - own.height - 8 > 56;
  tip.style.left = `${Math.max(0, Math.min(middle, inside.width - own.width))}px`;
  tip.style.top = `${onScreen ? above : at.bottom - inside.top + 8}px`;
}

function hideTip() {
  tip.hidden = true;
}

// The titles of marks become tips: the browser's own would come late, and twice.
function watchTips() {
  for (const title of document.querySelectorAll("figure rect > title, figure circle > title")) {
    title.parentNode.dataset.tip = title.textContent;
    title.remove();
  }
  for (const figure of document.querySelectorAll("figure")) {
    figure.addEventListener("pointerover", (event) => {
      const told = event.target.dataset.tip;
      if (told) showTip(event.target, told);
      else if (!event.target.classList.contains("voter")) hideTip();
    });
    figure.addEventListener("pointerleave", hideTip);
    figure.addEventListener("focusout", hideTip);
  }
  window.addEventListener("resize", hideTip);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
}
