"use strict";
// Comforts on top of a form that works without them: number keys, a picture over the whole window, the next picture in
// advance, and answers sent in the background, so that without a connection the page stays and the ticks with it.
(() => {
  const form = document.getElementById("question");
  const boxes = [...form.querySelectorAll("input[name=tick]")];
  const place = document.getElementById("wrong");
  const PATIENCE = 20000; // milliseconds for an answer to arrive; a round number
  const LATER = [408, 429]; // arrived too slowly, too many at once
  const AGAIN = 3000; // milliseconds after which an answer that got stuck can be sent again

  for (const hint of document.querySelectorAll(".comfort")) hint.hidden = false;

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const box = boxes[Number(event.key) - 1];
    if (/^[1-9]$/.test(event.key) && box) {
      event.preventDefault();
      box.click();
      box.focus();
    } else if (event.key === "Enter" && (event.target === document.body || event.target.name === "tick")) {
      event.preventDefault();
      form.requestSubmit(form.querySelector("button[value=answer]"));
    }
  });

  function say(sentence) {
    place.hidden = !sentence;
    place.textContent = sentence;
  }

  form.addEventListener("change", () => say(""));

  function sayNothingIsTicked() {
    say(form.dataset.nothing);
    boxes[0].focus();
  }

  function sendAsUsual(action) {
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = "action";
    field.value = action;
    form.append(field);
    form.submit();
  }

  let running = null;
  async function send(action) {
    running?.abort();
    const attempt = running = new AbortController();
    const late = setTimeout(() => attempt.abort(), PATIENCE);
    const fields = new FormData(form);
    fields.append("action", action);
    try {
      const answer = await fetch(form.getAttribute("action"), { method: "POST", body: new URLSearchParams(fields), headers: { Accept: "application/json" }, signal: attempt.signal });
      if (answer.ok) location.assign((await answer.json()).next);
      else if (answer.status >= 500 || LATER.includes(answer.status)) say(form.dataset.trouble);
      else sendAsUsual(action); // the server's own page says what is wrong
    } catch {
      if (running === attempt) say(form.dataset.offline);
    } finally {
      clearTimeout(late);
    }
    if (!place.hidden) sent = false;
  }

  let sent = false;
  form.addEventListener("submit", (event) => {
    const action = event.submitter?.value ?? "answer";
    event.preventDefault();
    if (sent) return;
    if (action === "answer" && !boxes.some((box) => box.checked)) {
      sayNothingIsTicked();
      return;
    }
    sent = true;
    setTimeout(() => { sent = false; }, AGAIN);
    send(action);
  });
  window.addEventListener("pageshow", () => { sent = false; });

  const zoom = document.querySelector("a.zoom");
  zoom?.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const view = document.getElementById("larger"), picture = view.querySelector("img");
    picture.src = zoom.href;
    picture.alt = zoom.querySelector("img").alt;
    view.showModal();
  });
  document.getElementById("larger")?.addEventListener("click", (event) => event.currentTarget.close());

  window.addEventListener("load", () => {
    if (form.dataset.next) new Image().src = form.dataset.next;
  });
})();
