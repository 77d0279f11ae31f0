"use strict";
// What the page was given: names, and columns of numbers that are unpacked when first needed.

const data = JSON.parse(document.getElementById("data").textContent);
const KINDS = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array };
const MANY = new Intl.NumberFormat("en");

function column([kind, text]) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  return new KINDS[kind](bytes.buffer);
}

function once(make) {
  let made;
  return () => (made === undefined ? (made = make()) : made);
}

function starts(sizes) {
  const start = new Uint32Array(sizes.length + 1);
  for (let k = 0; k < sizes.length; k++) start[k + 1] = start[k] + sizes[k];
  return start;
}

const sets = once(() => ({ start: starts(column(data.sets.sizes)), members: column(data.sets.members) }));

function setMembers(number) {
  const { start, members } = sets();
  return Array.from(members.subarray(start[number], start[number + 1]));
}

// Writing

// `62 %`, `97.4 %`, `> 99.9 %`, `< 0.1 %`, as in data/numbers.py; what was counted may be exactly `0 %` or `100 %`.
function probability(share) {
  if (Number.isNaN(share)) return "–";
  if (share > 0.999) return ">\u00a099.9\u00a0%";
  if (share < 0.001) return "<\u00a00.1\u00a0%";
  return `${(100 * share).toFixed(share < 0.1 || share >= 0.9 ? 1 : 0)}\u00a0%`;
}

function percent(share) {
  return share === 0 || share === 1 ? `${100 * share}\u00a0%` : probability(share);
}

function confidenceCell(share, text) {
  const bar = element("i");
  bar.style.width = `${100 * share}%`;
  return element("span", { class: "sure" }, element("span", { class: "meter", "aria-hidden": "true" }, bar), element("span", null, text));
}

function signed(value) {
  const text = Math.abs(value).toFixed(2);
  return (text === "0.00" ? "" : value < 0 ? "−" : "+") + text;
}

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function nameOf(text) {
  return element("bdi", null, text);
}

function chips(numbers) {
  const made = document.createDocumentFragment();
  if (!numbers.length) made.append(element("span", { class: "muted" }, "(none)"));
  numbers.forEach((j, k) => {
    if (k) made.append(element("span", { class: "unseen" }, ", "));
    made.append(element("span", { class: "chip" }, nameOf(data.alternatives.names[j])));
  });
  return made;
}
