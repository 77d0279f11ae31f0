"use strict";
// Two drawings for the live page, made of plain SVG elements.
const charts = (() => {
  const LEFT = 46, RIGHT = 470, TOP = 10, BOTTOM = 222;

  function add(parent, name, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }

  function scale(low, high, from, to) {
    const span = high - low || 1;
    return (value) => from + ((value - low) / span) * (to - from);
  }

  function niceStep(most) {
    const rough = Math.max(most / 5, 1), power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
  }

  function frame(svg) {
    svg.replaceChildren();
    add(svg, "line", { class: "axis", x1: LEFT, x2: LEFT, y1: TOP, y2: BOTTOM });
    add(svg, "line", { class: "axis", x1: LEFT, x2: RIGHT, y1: BOTTOM, y2: BOTTOM });
  }

  function clock(microseconds, withDay) {
    const moment = new Date(microseconds / 1000);
    return withDay ? moment.toISOString().slice(0, 16).replace("T", " ") : moment.toISOString().slice(11, 19);
  }

  function overTime(svg, points) {
    frame(svg);
    const first = points[0][0], last = points[points.length - 1][0], most = points[points.length - 1][1];
    const x = scale(first, last, LEFT, RIGHT), y = scale(0, most, BOTTOM, TOP + 6), step = niceStep(most);
    for (let value = step; value <= most; value += step) {
      add(svg, "line", { class: "grid", x1: LEFT, x2: RIGHT, y1: y(value), y2: y(value) });
      add(svg, "text", { class: "end", x: LEFT - 6, y: y(value) + 4 }, value);
    }
    const withDay = last - first > 86400e6;
    add(svg, "text", { x: LEFT, y: BOTTOM + 18 }, clock(first, withDay));
    add(svg, "text", { class: "end", x: RIGHT, y: BOTTOM + 18 }, clock(last, withDay));
    add(svg, "polyline", { class: "curve", points: points.map(([time, count]) => `${x(time)},${y(count)}`).join(" ") });
    return `${most} ballots from ${clock(first, withDay)} to ${clock(last, withDay)} UTC.`;
  }

  function voterMap(svg, voters) {
    frame(svg);
    const x = scale(0, 1, LEFT, RIGHT), y = scale(0, 1, BOTTOM, TOP + 6);
    const most = Math.max(...voters.map((voter) => voter.ballots), 1);
    for (const share of [0.25, 0.5, 0.75, 1]) {
      add(svg, "line", { class: "grid", x1: x(share), x2: x(share), y1: TOP, y2: BOTTOM });
      add(svg, "line", { class: "grid", x1: LEFT, x2: RIGHT, y1: y(share), y2: y(share) });
      add(svg, "text", { class: share === 1 ? "end" : "middle", x: x(share), y: BOTTOM + 16 }, `${100 * share}%`);
      add(svg, "text", { class: "end", x: LEFT - 6, y: y(share) + 4 }, `${100 * share}%`);
    }
    add(svg, "text", { class: "end", x: RIGHT, y: BOTTOM + 32 }, "false-alarm rate");
    add(svg, "text", { x: LEFT + 6, y: TOP + 4 }, "hit rate");
    const plain = voters.filter((voter) => !voter.flagged), flagged = voters.filter((voter) => voter.flagged);
    for (const voter of [...plain, ...flagged]) {
      const radius = 2.5 + 5 * Math.sqrt(voter.ballots / most);
      const dot = add(svg, "circle", { class: voter.flagged ? "dot flagged" : "dot", cx: x(voter.false_alarms), cy: y(voter.hits), r: radius });
      const rates = `hit rate ${Math.round(100 * voter.hits)} %, false-alarm rate ${Math.round(100 * voter.false_alarms)} %`;
      add(dot, "title", {}, `${voter.name}\n${rates}, ${voter.ballots} ballots`);
    }
  }

  return { overTime, voterMap };
})();
