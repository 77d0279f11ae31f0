"use strict";
// Asks every two seconds what is new and puts it in place, without loading the page again.
(() => {
  const find = (id) => document.getElementById(id);

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  function thumb(address) {
    const picture = element("img", undefined, "thumb");
    picture.loading = "lazy";
    picture.alt = "";
    picture.src = address;
    return picture;
  }

  function named(name, tags, picture) {
    const cell = element("th");
    cell.scope = "row";
    if (picture) cell.append(thumb(picture));
    cell.append(element("bdi", name), ...tags.map((tag) => element("span", tag, "tag")));
    return cell;
  }

  function setRow(row) {
    const line = element("tr"), answer = element("td");
    if (row.answer === null) answer.append(element("span", "no ballots yet", "muted"));
    else if (row.answer.length === 0) answer.append(element("span", "none of these", "muted"));
    for (const name of row.answer || []) {
      const chip = element("span", undefined, "chip");
      chip.append(element("bdi", name));
      answer.append(chip);
    }
    if (row.crowd) answer.append(element("span", `the ballots alone say: ${row.crowd.join(", ") || "none of these"}`, "tag"));
    const tags = [...(row.gold ? ["gold"] : []), ...(row.settled ? ["no longer asked"] : [])];
    line.append(named(row.name, tags, row.thumb), answer, element("td", row.confidence_words, "number"), element("td", row.ballots, "number"), element("td", row.more, "number"));
    return line;
  }

  function voterRow(row) {
    const line = element("tr");
    line.append(
      named(row.name, row.tags), element("td", row.ballots, "number"), element("td", row.rates),
      element("td", row.flags.join("; "), row.flagged ? "flag" : "muted"),
    );
    return line;
  }

  function replaceIfNew(body, rows, make) {
    const told = JSON.stringify(rows);
    if (body.dataset.told === told) return;
    body.dataset.told = told;
    body.replaceChildren(...rows.map(make));
  }

  function say(place, text) {
    if (place.textContent !== text) place.textContent = text;
  }

  function draw(board) {
    find("times").hidden = board.times.length < 2;
    find("map").hidden = board.map.length === 0;
    if (board.times.length > 1) {
      say(find("times").querySelector("figcaption"), charts.overTime(find("times").querySelector("svg"), board.times));
    }
    if (board.map.length) charts.voterMap(find("map").querySelector("svg"), board.map);
  }

  function showPages(nav, page) {
    say(nav.querySelector("span"), page.words);
    for (const side of ["before", "after"]) {
      const link = nav.querySelector(`.${side}`);
      link.hidden = !page[side];
      link.setAttribute("href", `organiser${page[side]}`);
    }
  }

  function show(board) {
    say(find("gate"), board.gate_words);
    find("close").hidden = board.gate !== "open";
    find("open").hidden = board.gate !== "closed";
    const warnings = [...(board.problem ? [board.problem] : []), ...board.warnings];
    find("careful").hidden = warnings.length === 0;
    replaceIfNew(find("warnings"), warnings, (text) => element("li", text));
    replaceIfNew(find("tiles"), board.tiles, ([value, label]) => {
      const tile = element("div");
      tile.append(element("dt", label), element("dd", value));
      return tile;
    });
    say(find("as-of"), board.as_of);
    say(find("command"), board.command);
    showPages(find("sets-page"), board.sets_page);
    showPages(find("voters-page"), board.voters_page);
    replaceIfNew(find("sets").tBodies[0], board.sets, setRow);
    replaceIfNew(find("voters").tBodies[0], board.voters, voterRow);
    draw(board);
  }

  let seen = "";

  async function ask() {
    let next = 2000;
    try {
      const headers = { Accept: "application/json", ...(seen && { "If-None-Match": seen }) };
      const answer = await fetch(`organiser/live${location.search}`, { headers, cache: "no-store" });
      if (answer.ok) {
        show(await answer.json());
        seen = answer.headers.get("ETag") || "";
      }
      if (answer.ok || answer.status === 304) {
        say(find("connection"), "");
      } else if (answer.status === 503) {
        say(find("connection"), (await answer.json()).error);
        seen = "";
        next = 5000;
      } else {
        say(find("connection"), answer.status === 403 ? "You are no longer signed in; open the organiser link again." : `The server answered ${answer.status}; trying again.`);
        next = 10000;
      }
    } catch {
      say(find("connection"), "The server does not answer; trying again.");
      next = 5000;
    }
    setTimeout(ask, next);
  }

  const copy = find("copy");
  copy.hidden = !navigator.clipboard; // needs HTTPS or this machine
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(find("command").textContent);
      say(find("copied"), "Copied.");
    } catch {
      say(find("copied"), "The browser did not allow it; select the command and copy it.");
    }
  });

  ask();
})();
