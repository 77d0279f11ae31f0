// Putting the tables up, the voter map, and printing.

function known(value) {
  return Number.isNaN(value) ? "" : value;
}

function interval(value, low, high, write) {
  const made = document.createDocumentFragment();
  made.append(write(value));
  if (!Number.isNaN(low)) made.append(element("span", { class: "interval" }, `${write(low)} to ${write(high)}`));
  return made;
}

function putInstances() {
  const given = instances();
  const ballotCount = column(data.instances.ballots);
  const setText = (number, by = ", ") => setMembers(number).map((j) => data.alternatives.names[j]).join(by);
  const setCell = (number) => chips(setMembers(number));
  const rival = (k) => (given.top[TOP * k] === given.set[k] ? TOP * k + 1 : TOP * k);
  const isGold = (k) => given.gold && given.gold[k] !== 0;
  const isWrong = (k) => isGold(k) && given.gold[k] !== given.set[k];
  const columns = [
    { title: "Instance", field: "instance", value: (k) => given.names[k], cell: (k) => nameOf(given.names[k]), csv: (k) => given.names[k] },
    { title: "Set", field: "alternatives", value: (k) => setText(given.set[k]), cell: (k) => setCell(given.set[k]), csv: (k) => setText(given.set[k], "|") },
  ];
  if (given.gold) columns.push({
    title: "Gold", field: "gold", value: (k) => (isGold(k) ? setText(given.gold[k]) : "\uffff"), csv: (k) => (isGold(k) ? setText(given.gold[k], "|") : ""),
    cell: (k) => (!isGold(k) ? "" : isWrong(k) ? element("span", null, element("span", { class: "wrong" }, "✗ "), setCell(given.gold[k])) : element("span", { class: "right" }, "✓ same")),
  });
  if (data.rated) columns.push(
    { title: "Confidence", field: "confidence", numeric: true, left: true, value: (k) => given.confidence[k], csv: (k) => given.confidence[k],
      cell: (k) => (given.taught.has(k) ? confidenceCell(1, "gold") : confidenceCell(given.confidence[k], probability(given.confidence[k]))) },
    { title: "Runner-up", field: "runner_up", value: (k) => (given.top[rival(k)] ? setText(given.top[rival(k)]) : ""), csv: (k) => (given.top[rival(k)] ? setText(given.top[rival(k)], "|") : ""),
      cell: (k) => (given.top[rival(k)] ? setCell(given.top[rival(k)]) : "–") },
    { title: "Its probability", field: "runner_up_probability", numeric: true, largeFirst: true, value: (k) => given.chances[rival(k)], csv: (k) => given.chances[rival(k)], cell: (k) => (given.top[rival(k)] ? probability(given.chances[rival(k)]) : "–") },
  );
  columns.push({ title: "Ballots", field: "ballots", numeric: true, largeFirst: true, value: (k) => ballotCount[k], csv: (k) => ballotCount[k], cell: (k) => MANY.format(ballotCount[k]) });
  const more = (k) => (!given.more.has(k) ? "" : given.more.get(k) === null ? "more than 64" : MANY.format(given.more.get(k)));
  if (given.more.size) columns.push({
    title: "More needed", field: "further_ballots", numeric: true, value: (k) => (given.more.has(k) ? given.more.get(k) ?? 65 : NaN), csv: more, cell: more,
  });
  if (given.majority) columns.push({ hidden: true, field: "majority", csv: (k) => setText(given.majority[k], "|") });
  const filters = [];
  if (data.rated) filters.push({ label: `below ${100 * data.sure}\u00a0%`, keep: (k) => given.confidence[k] < data.sure });
  if (given.gold) filters.push({ label: "different from gold", keep: isWrong });
  if (given.majority) filters.push({ label: "different from majority", keep: (k) => given.majority[k] !== given.set[k] });
  return makeTable(document.getElementById("instance-table"), {
    caption: "Every instance with its set", noun: "instance", columns, count: given.names.length, detail: instanceDetail,
    sorted: data.rated ? { column: columns.findIndex((each) => each.field === "confidence"), up: true } : null,
    words: (k) => `${given.names[k]} ${setText(given.set[k])}`, filters,
  });
}

function putVoters() {
  const given = voters();
  const rate = (title, name, largeFirst) => ({
    title, field: `${name}_rate`, numeric: true, largeFirst, value: (i) => given[`${name}_rates`][i], csv: (i) => known(given[`${name}_rates`][i]),
    cell: (i) => interval(given[`${name}_rates`][i], given[`${name}_low`][i], given[`${name}_high`][i], percent),
  });
  const columns = [
    { title: "Voter", field: "voter", value: (i) => given.names[i], cell: (i) => nameOf(given.names[i]), csv: (i) => given.names[i] },
    rate("Hit rate", "hit", true), rate("False-alarm rate", "false_alarm", false),
    { title: "Weight", field: "weight", numeric: true, largeFirst: true, value: (i) => given.weights[i], csv: (i) => given.weights[i], cell: (i) => interval(given.weights[i], given.weight_low[i], given.weight_high[i], signed) },
    { title: "Ballots", field: "ballots", numeric: true, largeFirst: true, value: (i) => given.ballots[i], csv: (i) => given.ballots[i], cell: (i) => MANY.format(given.ballots[i]) },
  ];
  if (data.rated) columns.push({ title: "Flagged because", field: "flags", value: (i) => given.flags[i] || "\uffff", csv: (i) => given.flags[i], cell: (i) => given.flags[i] });
  makeTable(document.getElementById("voter-table"), {
    caption: "Every voter with rates and weight", noun: "voter", columns, count: given.names.length,
    sorted: { column: 3, up: false }, words: (i) => `${given.names[i]} ${given.flags[i]}`,
    filters: given.flags.some(Boolean) ? [{ label: "flagged", keep: (i) => given.flags[i] !== "" }] : [],
  });
}

function putAlternatives() {
  const given = alternatives();
  const share = (j) => given.occurrences[j] / given.offered[j];
  makeTable(document.getElementById("alternative-table"), {
    caption: "Every alternative", noun: "alternative", count: given.names.length, words: (j) => given.names[j],
    columns: [
      { title: "Alternative", field: "alternative", csv: (j) => given.names[j], value: (j) => given.names[j], cell: (j) => nameOf(given.names[j]) },
      { title: "Prior", field: "prior", csv: (j) => given.priors[j], numeric: true, largeFirst: true, value: (j) => given.priors[j], cell: (j) => percent(given.priors[j]) },
      { title: "In sets", field: "sets", csv: (j) => given.occurrences[j], numeric: true, largeFirst: true, value: share, cell: (j) => `${MANY.format(given.occurrences[j])} (${percent(share(j))})` },
      { title: "Hit rate", field: "hit_rate", csv: (j) => known(given.hit_share[j]), numeric: true, largeFirst: true, value: (j) => given.hit_share[j], cell: (j) => percent(given.hit_share[j]) },
      { title: "False-alarm rate", field: "false_alarm_rate", csv: (j) => known(given.false_alarm_share[j]), numeric: true, largeFirst: true, value: (j) => given.false_alarm_share[j], cell: (j) => percent(given.false_alarm_share[j]) },
    ],
  });
}

// The voter looked at, by mouse or keyboard, is described beside its dot and shows its intervals.

function watchMap() {
  const map = document.querySelector(".map svg");
  const dots = Array.from(map.querySelectorAll(".voter"));
  const layer = map.querySelector(".looked-at");
  const given = Object.fromEntries(Object.entries(map.dataset).map(([name, value]) => [name, Number(value)]));
  const odds = (share) => Math.log(share) - Math.log1p(-share);
  const part = (share, low, high) => (Math.min(Math.max(odds(share), low), high) - low) / (high - low);
  const x = (share) => given.left + part(share, given.acrossLow, given.acrossHigh) * (given.right - given.left);
  const y = (share) => given.bottom - part(share, given.upLow, given.upHigh) * (given.bottom - given.top);

  function line(x1, y1, x2, y2) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", "line");
    for (const [key, value] of Object.entries({ class: "cross", x1, y1, x2, y2 })) made.setAttribute(key, value);
    return made;
  }

  function told(i) {
    const all = voters();
    const rate = (title, name) => element("div", null, `${title} ${percent(all[`${name}_rates`][i])}`
      + (Number.isNaN(all[`${name}_low`][i]) ? "" : ` (95\u00a0% CI ${percent(all[`${name}_low`][i])} to ${percent(all[`${name}_high`][i])})`));
    return [
      element("strong", null, nameOf(all.names[i])), rate("hit rate", "hit"), rate("false-alarm rate", "false_alarm"),
      element("div", null, `weight ${signed(all.weights[i])}, ${MANY.format(all.ballots[i])} ${all.ballots[i] === 1 ? "ballot" : "ballots"}`),
      ...(all.flags[i] ? [element("div", { class: "wrong" }, all.flags[i])] : []),
    ];
  }

  function look(dot) {
    const i = Number(dot.dataset.voter);
    const all = voters();
    showTip(dot, ...told(i));
    layer.replaceChildren();
    if (Number.isNaN(all.hit_low[i])) return;
    const p = dot.getAttribute("cy");
    const q = dot.getAttribute("cx");
    layer.append(line(x(all.false_alarm_low[i]), p, x(all.false_alarm_high[i]), p), line(q, y(all.hit_low[i]), q, y(all.hit_high[i])));
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

// The section on the screen is marked in the navigation.
function watchSections() {
  const links = new Map(Array.from(document.querySelectorAll("nav a"), (link) => [link.getAttribute("href").slice(1), link]));
  const seen = new Set();
  const watcher = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) (isIntersecting ? seen.add(target.id) : seen.delete(target.id));
    const current = [...links.keys()].find((id) => seen.has(id));
    for (const [id, link] of links) {
      if (id === current) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }, { rootMargin: "-80px 0px -60% 0px" });
  for (const id of links.keys()) watcher.observe(document.getElementById(id));
}

function watchAddress(table) {
  const follow = () => {
    const k = addressed();
    if (k >= 0) table.reveal(k);
    else if (location.hash.startsWith("#instance=")) document.getElementById("instances").scrollIntoView();
  };
  window.addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#instance=']");
    if (link && link.getAttribute("href") === location.hash) follow();
  });
  follow();
}

putVoters();
putAlternatives();
watchMap();
watchTips();
watchPrinting();
watchSections();
watchAddress(putInstances());
