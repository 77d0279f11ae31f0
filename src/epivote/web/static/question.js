"use strict";
// Comforts on top of a form that works without them: number keys, one submission only, the next picture in advance.
(() => {
  const form = document.getElementById("question");
  const boxes = [...form.querySelectorAll("input[name=tick]")];

  for (const hint of form.querySelectorAll(".comfort")) hint.hidden = false;

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    const box = boxes[Number(event.key) - 1];
    if (/^[1-9]$/.test(event.key) && box) {
      event.preventDefault();
      box.checked = !box.checked;
      box.focus();
    } else if (event.key === "Enter" && (event.target === document.body || event.target.name === "tick")) {
      event.preventDefault();
      form.requestSubmit(form.querySelector("button[value=answer]"));
    }
  });

  function sayNothingIsTicked() {
    const place = document.getElementById("wrong");
    place.hidden = false;
    place.textContent = place.dataset.nothing || place.textContent;
    boxes[0].focus();
  }

  let sent = false;
  form.addEventListener("submit", (event) => {
    const nothing = event.submitter?.value === "answer" && !boxes.some((box) => box.checked);
    if (sent || nothing) event.preventDefault();
    if (nothing) sayNothingIsTicked();
    else if (!sent) {
      sent = true;
      setTimeout(() => { sent = false; }, 3000); // an answer that got stuck can be sent again
    }
  });
  window.addEventListener("pageshow", () => { sent = false; });

  window.addEventListener("load", () => {
    if (form.dataset.next) new Image().src = form.dataset.next;
  });
})();
