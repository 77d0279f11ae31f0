// Putting the tables up, the voter map, and printing.

function interval(value, low, high, write) {
  const made = document.createDocumentFragment();
  made.append(write(value));
  if (!Number.isNaN(low)) made.append(element("span", { class: "interval" }, `${write(low)} to ${write(high)}`));
  return made;
}

function putItems() {
  const given = items();
  const setText = (number) => setMembers(number).map((j) => data.alternatives.names[j]).join(", ");
  const setCell = (number) => chips(setMembers(number));
  const rival = (k) => (given.top[TOP * k] === given.answer[k] ? TOP * k + 1 : TOP * k);
  const columns = [
    { title: "Item", value: (k) => given.names[k], cell: (k) => nameOf(given.names[k]) },
    { title: "Set", value: (k) => setText(given.answer[k]), cell: (k) => setCell(given.answer[k]) },
  ];
  if (data.rated) columns.push(
    { title: "Confidence", numeric: true, value: (k) => given.confidence[k], cell: (k) => (given.gold.has(k) ? "gold" : percent(given.confidence[k])) },
    { title: "Runner-up", value: (k) => (given.top[rival(k)] ? setText(given.top[rival(k)]) : ""), cell: (k) => (given.top[rival(k)] ? setCell(given.top[rival(k)]) : "–") },
    { title: "Its chance", numeric: true, largeFirst: true, value: (k) => given.chances[rival(k)], cell: (k) => percent(given.chances[rival(k)]) },
  );
  const low = (k) => given.confidence[k] < data.sure;
  makeTable(document.getElementById("item-table"), {
    caption: "Every item with its set", noun: "item", columns, count: given.names.length, detail: itemDetail,
    words: (k) => `${given.names[k]} ${setText(given.answer[k])}`,
    only: data.rated ? { label: `only those less sure than ${100 * data.sure}%`, keep: low } : null,
  });
}

function putVoters() {
  const given = voters();
  const rate = (title, name, largeFirst) => ({
    title, numeric: true, largeFirst, value: (i) => given[`${name}_rates`][i],
    cell: (i) => interval(given[`${name}_rates`][i], given[`${name}_low`][i], given[`${name}_high`][i], percent),
  });
  const columns = [
    { title: "Voter", value: (i) => given.names[i], cell: (i) => nameOf(given.names[i]) },
    rate("Hits", "hit", true), rate("False alarms", "false_alarm", false),
    { title: "Weight", numeric: true, largeFirst: true, value: (i) => given.weights[i], cell: (i) => interval(given.weights[i], given.weight_low[i], given.weight_high[i], signed) },
    { title: "Ballots", numeric: true, largeFirst: true, value: (i) => given.ballots[i], cell: (i) => MANY.format(given.ballots[i]) },
  ];
  if (data.rated) columns.push({ title: "Worth a look", value: (i) => given.flags[i] || "\uffff", cell: (i) => given.flags[i] });
  makeTable(document.getElementById("voter-table"), {
    caption: "Every voter with rates and weight", noun: "voter", columns, count: given.names.length,
    sorted: { column: 3, up: false }, words: (i) => `${given.names[i]} ${given.flags[i]}`,
    only: given.flags.some(Boolean) ? { label: "only those worth a look", keep: (i) => given.flags[i] !== "" } : null,
  });
}

function putAlternatives() {
  const given = alternatives();
  const share = (j) => given.occurrences[j] / given.offered[j];
  makeTable(document.getElementById("alternative-table"), {
    caption: "Every alternative", noun: "alternative", count: given.names.length, words: (j) => given.names[j],
    columns: [
      { title: "Alternative", value: (j) => given.names[j], cell: (j) => nameOf(given.names[j]) },
      { title: "Prior", numeric: true, largeFirst: true, value: (j) => given.priors[j], cell: (j) => percent(given.priors[j]) },
      { title: "In sets", numeric: true, largeFirst: true, value: share, cell: (j) => `${MANY.format(given.occurrences[j])} (${percent(share(j))})` },
      { title: "Hits", numeric: true, largeFirst: true, value: (j) => given.hit_share[j], cell: (j) => percent(given.hit_share[j]) },
      { title: "False alarms", numeric: true, largeFirst: true, value: (j) => given.false_alarm_share[j], cell: (j) => percent(given.false_alarm_share[j]) },
    ],
  });
}

// The voter looked at, by mouse or keyboard, is named below the map and shows its intervals.

function watchMap() {
  const map = document.querySelector(".map svg");
  const dots = Array.from(map.querySelectorAll(".voter"));
  const readout = document.getElementById("voter-readout");
  const layer = map.querySelector(".looked-at");
  const { left, right, top, bottom } = map.dataset;
  const x = (share) => Number(left) + share * (right - left);
  const y = (share) => Number(bottom) - share * (bottom - top);

  function line(x1, y1, x2, y2) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [key, value] of Object.entries({ class: "cross", x1, y1, x2, y2 })) made.setAttribute(key, value);
    return made;
  }

  function look(dot) {
    const i = Number(dot.dataset.voter);
    const given = voters();
    const range = (low, high) => (Number.isNaN(low[i]) ? "" : ` (${percent(low[i])} to ${percent(high[i])})`);
    const told = `: hits ${percent(given.hit_rates[i])}${range(given.hit_low, given.hit_high)}, false alarms ${percent(given.false_alarm_rates[i])}`
      + `${range(given.false_alarm_low, given.false_alarm_high)}, weight ${signed(given.weights[i])}, ${MANY.format(given.ballots[i])} ballots`
      + (given.flags[i] ? `; ${given.flags[i]}` : "");
    readout.replaceChildren(element("strong", null, nameOf(given.names[i])), told);
    layer.replaceChildren();
    if (Number.isNaN(given.hit_low[i])) return;
    const p = y(given.hit_rates[i]);
    const q = x(given.false_alarm_rates[i]);
    layer.append(line(x(given.false_alarm_low[i]), p, x(given.false_alarm_high[i]), p), line(q, y(given.hit_low[i]), q, y(given.hit_high[i])));
  }

  function step(event) {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const at = dots.indexOf(event.target);
    if (!by || at < 0) return;
    event.preventDefault();
    const next = dots[(at + by + dots.length) % dots.length];
    event.target.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  }

  for (const kind of ["pointerover", "focusin", "click"]) {
    map.addEventListener(kind, (event) => { if (event.target.classList.contains("voter")) look(event.target); });
  }
  map.addEventListener("keydown", step);
}

function watchPrinting() {
  const closed = [];
  window.addEventListener("beforeprint", () => {
    tables.forEach((table) => table.print());
    for (const each of document.querySelectorAll("details:not([open])")) { each.open = true; closed.push(each); }
  });
  window.addEventListener("afterprint", () => {
    tables.forEach((table) => table.screen());
    for (const each of closed.splice(0)) each.open = false;
  });
}

putVoters();
putItems();
putAlternatives();
watchMap();
watchPrinting();
