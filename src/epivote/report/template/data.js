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

function percent(share) {
  return Number.isNaN(share) ? "–" : `${(100 * share).toFixed(1)}%`;
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
