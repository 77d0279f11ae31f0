// One instance opened: gold and majority, its most probable sets, why it got its set, and its ballots.

const PUSHES = 8;
const OUTSIDERS = 2;
const MORE = 60;
const BALLOTS = 200;
const TOP = 4;

const instances = once(() => {
  const given = data.instances;
  const made = { taught: new Set(given.taught), ties: new Set(given.ties), names: given.names, more: new Map(given.more) };
  for (const name of ["set", "gold", "majority", "confidence", "top", "chances", "lower", "upper", "menu"]) {
    made[name] = given[name] && column(given[name]);
  }
  return made;
});
const ballots = once(() => {
  const ticks = starts(column(data.instances.ticks));
  return { of: starts(column(data.instances.ballots)), voter: column(data.instances.voter), ticks, ticked: column(data.instances.ticked) };
});
const voters = once(() => {
  const made = { names: data.voters.names, flags: data.voters.flags };
  for (const name of Object.keys(data.voters)) if (!made[name]) made[name] = column(data.voters[name]);
  return made;
});
const alternatives = once(() => {
  const made = { names: data.alternatives.names };
  for (const name of Object.keys(data.alternatives)) if (!made[name]) made[name] = column(data.alternatives[name]);
  return made;
});

const groups = once(() => {
  const m = data.alternatives.names.length;
  const prior = column(data.groups.prior);
  return Array.from(column(data.groups.shares), (share, g) => ({ share, prior: prior.subarray(g * m, g * m + m) }));
});

function ballotsOf(k) {
  const { of, voter, ticks, ticked } = ballots();
  const made = [];
  for (let b = of[k]; b < of[k + 1]; b++) {
    made.push({ voter: voter[b], ticked: Array.from(ticked.subarray(ticks[b], ticks[b + 1])) });
  }
  return made;
}

function offeredOn(k) {
  const menu = instances().menu;
  return menu ? setMembers(menu[k]) : Array.from(data.alternatives.names.keys());
}

// Every offered alternative with its prior, the push of every ballot, and their sum, strongest first. Where instances fall
// into groups, prior and sum are those of the most probable group, and chances are taken over all groups.
function accountsOf(k) {
  const { weights, thresholds, times } = voters();
  const cast = ballotsOf(k);
  const ticks = cast.map((ballot) => new Set(ballot.ticked));
  const answer = new Set(setMembers(instances().set[k]));
  const cells = offeredOn(k).map((j) => {
    const pushes = cast.map(({ voter }, b) => ({
      voter, ticked: ticks[b].has(j), many: times ? times[voter] : 1,
      push: (times ? times[voter] : 1) * ((ticks[b].has(j) ? weights[voter] : 0) - thresholds[voter]),
    }));
    return { alternative: j, pushes, chosen: answer.has(j) };
  });
  const among = data.groups ? groups() : [{ share: 0, prior: alternatives().prior }];
  const weighed = among.map(({ share, prior }) => weighedIn(k, cells, prior, share));
  const total = weighed.reduce((sum, each) => logAdd(sum, each.weight), -Infinity);
  const likely = weighed.reduce((best, each) => (each.weight > best.weight ? each : best));
  const { accounts } = likely;
  accounts.forEach((each, c) => {
    each.chance = weighed.reduce((sum, one) => sum + Math.exp(one.weight - total) * one.chances[c], 0);
  });
  accounts.sort((one, other) => other.margin - one.margin);
  if (data.groups) accounts.group = { number: weighed.indexOf(likely) + 1, probability: Math.exp(likely.weight - total) };
  return accounts;
}

// One group: accounts with its priors, the chances of all alternatives within it, and its weight among all groups.
function weighedIn(k, cells, prior, share) {
  const lower = instances().lower[k];
  const upper = instances().upper[k];
  const accounts = cells.map((cell) => {
    const own = prior[cell.alternative];
    const margin = cell.pushes.reduce((sum, each) => sum + each.push, own);
    return calibrated({ ...cell, prior: own, calibration: 0, margin });
  });
  const { chances, partition } = inclusion(accounts.map((each) => each.margin), lower, upper);
  if (!data.groups) return { accounts, chances, weight: 0 };
  const scale = data.calibration ? data.calibration.scale * data.calibration.model_weight : 1;
  const before = inclusion(cells.map((cell) => scale * prior[cell.alternative]), lower, upper);
  return { accounts, chances, weight: share + partition - before.partition };
}

const calibration = once(() => data.calibration && { ...data.calibration, offsets: column(data.calibration.offsets) });

// The account with its margin translated, and what that added; a rule without rates has nothing but its approvals.
function calibrated(account) {
  const known = calibration();
  if (!known) return account;
  const cast = account.pushes.reduce((sum, each) => sum + each.many, 0);
  const approvals = account.pushes.reduce((sum, each) => sum + (each.ticked ? each.many : 0), 0);
  const share = Math.log(approvals + 0.5) - Math.log(cast - approvals + 0.5);
  const mixed = known.model_weight * account.margin + known.share_weight * share;
  const margin = known.scale * mixed + known.offset + known.offsets[account.alternative];
  const before = known.only_shares ? { prior: 0, pushes: [], margin: 0 } : account;
  return { ...account, ...before, calibration: margin - before.margin, margin };
}

function logAdd(a, b) {
  if (a < b) [a, b] = [b, a];
  return b === -Infinity ? a : a + Math.log1p(Math.exp(b - a));
}

// Probability of every alternative to be right when the number of right ones lies in lower..upper, and the logarithm of
// the sum over all sets: a counter follows the size from both ends; its last state means "enough" or, where there is an
// upper bound, "too many".
function inclusion(margins, lower, upper) {
  const m = margins.length;
  const bounded = upper < m;
  const last = bounded ? upper + 1 : lower;
  const next = (s) => Math.min(s + 1, last);
  const later = [Float64Array.from({ length: last + 1 }, (_, s) => (bounded ? s >= lower && s <= upper : s === lower) ? 0 : -Infinity)];
  for (let j = m - 1; j >= 0; j--) {
    const after = later[later.length - 1];
    later.push(after.map((value, s) => logAdd(value, after[next(s)] + margins[j])));
  }
  later.reverse();
  let counter = Float64Array.from({ length: last + 1 }, (_, s) => (s ? -Infinity : 0));
  const chances = margins.map((margin, j) => {
    let inside = -Infinity;
    const moved = Float64Array.from(counter);
    for (let s = 0; s <= last; s++) {
      inside = logAdd(inside, counter[s] + later[j + 1][next(s)]);
      moved[next(s)] = logAdd(moved[next(s)], counter[s] + margin);
    }
    counter = moved;
    return Math.exp(Math.min(inside + margin - later[0][0], 0));
  });
  return { chances, partition: later[0][0] };
}

function alternativesIn(count) {
  return `${MANY.format(count)} ${count === 1 ? "alternative" : "alternatives"}`;
}

function boundWords(k, accounts) {
  const { taught, lower, upper, set, top } = instances();
  const strong = (each) => Math.round(each.margin * 1e9) >= 0;
  const listed = (some) => {
    const names = some.sort((one, other) => one.alternative - other.alternative).map((each) => data.alternatives.names[each.alternative]);
    return `{${names.join(", ")}}`;
  };
  const added = accounts.filter((each) => each.chosen && !strong(each));
  const removed = accounts.filter((each) => !each.chosen && strong(each));
  if (taught.has(k)) return "The set was given as gold; probabilities and margins are those from the ballots alone.";
  if (set[k] !== top[TOP * k]) return "The iteration stopped before convergence; its last rates would choose another set.";
  if (accounts.group) {
    const size = Math.min(Math.max(accounts.filter(strong).length, lower[k]), upper[k]);
    const best = accounts.slice(0, size);
    if (best.some((each) => !each.chosen) || accounts.slice(size).some((each) => each.chosen)) {
      return `Within group ${accounts.group.number} alone ${listed(best)} would be the most probable set.`;
    }
  }
  if (added.length) return `The evidence is against ${listed(added)}, but a set has at least ${alternativesIn(lower[k])}.`;
  if (removed.length) return `The evidence is for ${listed(removed)}, but a set has at most ${alternativesIn(upper[k])}.`;
  return "The size bounds changed nothing: the set holds every alternative with a margin above 0.";
}

function groupWords({ number, probability: chance }) {
  return `Priors and margins are those of group ${number}, to which it belongs with a probability of ${probability(chance)}.`;
}

function simpleTable(caption, heads, rows) {
  const head = heads.map(([title, numeric]) => element("th", { scope: "col", class: numeric ? "number" : "" }, title));
  const body = rows.map((cells) => element("tr", null, ...cells.map((cell, c) => (
    c ? element("td", { class: heads[c][1] ? "number" : "" }, cell) : element("th", { scope: "row" }, cell)))));
  const table = element("table", null, element("caption", { class: "unseen" }, caption), element("thead", null, element("tr", null, ...head)), element("tbody", null, ...body));
  return element("div", { class: "scroller short", tabindex: "0", role: "region", "aria-label": caption }, table);
}

function topTable(k) {
  const { top, chances } = instances();
  const rows = [];
  for (let place = TOP * k; place < TOP * k + TOP && top[place]; place++) {
    rows.push([chips(setMembers(top[place])), probability(chances[place])]);
  }
  return simpleTable(`Most probable sets of ${instances().names[k]}`, [["Set"], ["Probability", true]], rows);
}

function fall(account, low, high) {
  const name = data.alternatives.names[account.alternative];
  const ranked = [...account.pushes].sort((one, other) => Math.abs(other.push) - Math.abs(one.push));
  const steps = [{ label: "prior", push: account.prior }];
  for (const each of ranked.slice(0, PUSHES)) {
    steps.push({ label: voters().names[each.voter], push: each.push, approved: each.ticked });
  }
  const rest = ranked.slice(PUSHES);
  if (rest.length) steps.push({ label: `${MANY.format(rest.length)} others`, push: rest.reduce((sum, each) => sum + each.push, 0) });
  if (account.calibration) steps.push({ label: "calibration", push: account.calibration });
  const place = (value) => `${(100 * (value - low)) / (high - low)}%`;
  const line = (label, value, from, kind, approved) => {
    const bar = element("i", { class: kind });
    bar.style.left = place(Math.min(from, from + value));
    bar.style.width = `${(100 * Math.abs(value)) / (high - low)}%`;
    const zero = element("i", { class: "zero" });
    zero.style.left = place(0);
    const who = element("div", { class: "who" });
    if (approved !== undefined) who.append(element("span", { role: "img", "aria-label": approved ? "approved by" : "not approved by" }, approved ? "✓" : "✗"));
    who.append(nameOf(label));
    return element("tr", null, element("th", { scope: "row", title: label }, who),
      element("td", { class: "number" }, signed(value)), element("td", { "aria-hidden": "true" }, element("div", { class: "track" }, zero, bar)));
  };
  let sum = 0;
  const rows = steps.map(({ label, push, approved }) => {
    const made = line(label, push, sum, push < 0 ? "against" : "for", approved);
    sum += push;
    return made;
  });
  const total = line("margin", account.margin, 0, "total");
  total.className = "sum";
  const verdict = `${account.chosen ? "in" : "out"}, in the true set with ${probability(account.chance)}`;
  return element("div", { class: "fall", "data-alternative": name, "data-margin": account.margin, "data-chance": account.chance },
    element("table", null, element("caption", null, element("strong", null, nameOf(name)), `: ${verdict}`), element("tbody", null, ...rows, total)));
}

function falls(accounts) {
  let low = 0;
  let high = 0;
  const first = accounts.filter((each) => each.chosen);
  first.push(...accounts.filter((each) => !each.chosen).slice(0, OUTSIDERS));
  const rest = accounts.filter((each) => !first.includes(each));
  for (const each of accounts) {
    let sum = each.prior;
    low = Math.min(low, sum, each.margin);
    high = Math.max(high, sum, each.margin);
    for (const { push } of [...each.pushes].sort((one, other) => Math.abs(other.push) - Math.abs(one.push))) {
      sum += push;
      low = Math.min(low, sum);
      high = Math.max(high, sum);
    }
  }
  const grid = element("div", { class: "falls" }, ...first.map((each) => fall(each, low, high)));
  if (!rest.length) return grid;
  const more = element("button", { type: "button" });
  const label = () => { more.textContent = rest.length > MORE ? `Show ${MORE} of the other ${MANY.format(rest.length)}` : `Show the other ${rest.length}`; };
  label();
  more.addEventListener("click", () => {
    grid.append(...rest.splice(0, MORE).map((each) => fall(each, low, high)));
    if (rest.length) label();
    else more.remove();
  });
  return element("div", null, grid, more);
}

function ballotTable(k) {
  const cast = ballotsOf(k);
  const rows = cast.slice(0, BALLOTS).map(({ voter, ticked }) => {
    const cells = [nameOf(voters().names[voter]), chips(ticked)];
    return data.rated ? [...cells, signed(voters().weights[voter])] : cells;
  });
  const heads = data.rated ? [["Voter"], ["Approved"], ["Weight", true]] : [["Voter"], ["Approved"]];
  const made = element("div", null, simpleTable(`Ballots on ${instances().names[k]}`, heads, rows));
  if (cast.length > BALLOTS) made.append(element("p", { class: "muted" }, `The first ${BALLOTS} of ${MANY.format(cast.length)} ballots.`));
  return made;
}

function tickTable(k) {
  const cast = ballotsOf(k);
  const answer = new Set(setMembers(instances().set[k]));
  const counts = new Map(offeredOn(k).map((j) => [j, 0]));
  for (const { ticked } of cast) for (const j of ticked) counts.set(j, counts.get(j) + 1);
  const rows = [...counts].sort((one, other) => other[1] - one[1]).slice(0, BALLOTS)
    .map(([j, count]) => [nameOf(data.alternatives.names[j]), answer.has(j) ? "in" : "out", `${count} of ${cast.length}`]);
  return simpleTable(`Approvals on ${instances().names[k]}`, [["Alternative"], ["Set"], ["Approved on", true]], rows);
}

// What gold and a majority say, and how many ballots are exactly the set.
function comparisons(k) {
  const { set, gold, majority, taught } = instances();
  const made = element("ul", { class: "comparisons" });
  const told = (...parts) => made.append(element("li", null, ...parts));
  if (gold && gold[k]) {
    const verdict = taught.has(k) ? "given for fitting and kept" : gold[k] === set[k] ? "the set is exactly right" : "the set is not exactly right";
    told("Gold: ", chips(setMembers(gold[k])), ` (${verdict})`);
  }
  if (majority) told("Majority: ", chips(setMembers(majority[k])), majority[k] === set[k] ? " (the same set)" : " (a different set)");
  const members = setMembers(set[k]).join();
  const { times } = voters();
  const cast = ballotsOf(k).map(({ voter, ticked }) => ({ many: times ? times[voter] : 1, same: ticked.join() === members }));
  const count = (some) => some.reduce((sum, { many }) => sum + many, 0);
  told(`${MANY.format(count(cast.filter(({ same }) => same)))} of ${MANY.format(count(cast))} ballots approve exactly this set.`);
  return made;
}

function instanceDetail(k) {
  const made = element("div", null, comparisons(k));
  const cast = element("div", null, element("h3", null, "Ballots"), ballotTable(k));
  if (data.rated) {
    const accounts = accountsOf(k);
    made.append(element("p", { class: "bound" }, boundWords(k, accounts)));
    if (accounts.group) made.append(element("p", { class: "group" }, groupWords(accounts.group)));
    if (instances().ties.has(k)) made.append(element("p", null, "Other sets were equally likely; the order of the alternatives decided."));
    const best = element("div", null, element("h3", null, "Most probable sets"), topTable(k));
    made.append(element("div", { class: "halves" }, best, cast));
    const parts = data.calibration ? "the prior, the ballots and the calibration" : "the prior and the ballots";
    made.append(element("h3", null, "Why"), element("p", { class: "muted" }, `In log-odds, ${parts} add up to the margin; the strongest contributions come first. ✓ approved it, ✗ did not.`), falls(accounts));
  } else {
    const approvals = element("div", null, element("h3", null, "Approvals"), tickTable(k));
    made.append(element("div", { class: "halves" }, approvals, cast));
  }
  made.append(element("p", null, element("a", { href: addressOf(k) }, "Link to this instance")));
  return made;
}

// Addresses within the page: #instance=NAME. Halves of characters cannot be part of an address.
function addressOf(k) {
  return `#instance=${encodeURIComponent(wellFormed(instances().names[k]))}`;
}

function wellFormed(name) {
  return name.replace(/\p{Surrogate}/gu, "?");
}

function addressed() {
  const found = /^#instance=(.*)$/s.exec(location.hash);
  if (!found) return -1;
  let name;
  try { name = decodeURIComponent(found[1]); } catch { return -1; }
  return instances().names.findIndex((each) => wellFormed(each) === name);
}
