// Two optional conveniences: the console works without this script. It reloads a live page when the server
// reports a change, unless the reader is using the page, and it shows the copy buttons.
"use strict";

(() => {
  const copying = (root) => {
    if (!navigator.clipboard) return;
    for (const button of root.querySelectorAll("button[data-copy]")) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        const source = document.getElementById(button.dataset.copy);
        if (!source) return;
        await navigator.clipboard.writeText("value" in source ? source.value : source.textContent);
        const text = button.textContent;
        button.textContent = "Copied";
        setTimeout(() => { button.textContent = text; }, 1500);
      });
    }
  };

  const main = document.querySelector("main");
  if (!main) return;
  copying(main);
  if (!main.dataset.live || !window.EventSource) return;

  // A reload must not discard the reader's input or text selection.
  const isInUse = () => {
    const active = document.activeElement;
    if (main.contains(active) && /^(INPUT|SELECT|TEXTAREA)$/.test(active.tagName)) return true;
    return Boolean(getSelection().toString()) ||
      [...main.querySelectorAll("input, textarea")].some((field) =>
        field.type === "checkbox" || field.type === "radio" ? field.checked !== field.defaultChecked
          : field.type !== "hidden" && field.value !== field.defaultValue);
  };

  // An element must not move while the reader clicks it, so reloads wait while a mouse button, finger or key
  // is down, for 3 s after the pointer moved over a clickable element, and after a form was submitted.
  let isDown = false, moved = 0, isLeaving = false;
  const up = () => setTimeout(() => { isDown = false; }, 300);
  addEventListener("pointerdown", () => { isDown = true; }, true);
  addEventListener("pointerup", up, true);
  addEventListener("pointercancel", up, true);
  addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") isDown = true; }, true);
  addEventListener("keyup", up, true);
  addEventListener("blur", up);
  addEventListener("pointermove", () => { moved = Date.now(); }, { capture: true, passive: true });
  addEventListener("submit", () => { isLeaving = true; }, true);
  addEventListener("pageshow", () => { isLeaving = false; });
  const isAimedAt = () => isDown || isLeaving ||
    (Date.now() - moved < 3000 && main.querySelector(":is(a, button, summary, label, select):hover") !== null);

  const place = (element) => [...main.querySelectorAll("a, button, summary, [tabindex]")].indexOf(element);

  let retry;
  const later = () => {
    clearTimeout(retry);
    retry = setTimeout(() => load().catch(() => {}), 500);
  };

  const load = async () => {
    if (isInUse() || isAimedAt()) return later();
    const response = await fetch(location.href, { headers: { accept: "text/html" }, credentials: "same-origin" });
    // If the session has ended, the server redirects to the sign-in page, so this reloads the whole page.
    if (!response.ok || response.redirected) return location.reload();
    const page = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("main");
    if (!page) return;
    if (isInUse() || isAimedAt()) return later();
    const open = [...main.querySelectorAll("details")].map((details) => details.open);
    const focused = main.contains(document.activeElement) ? place(document.activeElement) : -1;
    main.replaceChildren(...page.childNodes);
    main.querySelectorAll("details").forEach((details, index) => {
      if (open[index] !== undefined) details.open = open[index];
    });
    if (focused >= 0) main.querySelectorAll("a, button, summary, [tabindex]")[focused]?.focus({ preventScroll: true });
    copying(main);
  };

  // A hidden tab closes its connection, because a browser opens only six connections to one server.
  let source, timer;
  const follow = () => {
    source?.close();
    source = undefined;
    if (document.hidden) return;
    source = new EventSource(main.dataset.live);
    source.addEventListener("change", () => {
      clearTimeout(timer);
      timer = setTimeout(() => load().catch(() => {}), 150);
    });
  };
  let wasHidden = document.hidden;
  document.addEventListener("visibilitychange", () => {
    follow();
    if (wasHidden && !document.hidden) load().catch(() => {});
    wasHidden = document.hidden;
  });
  follow();
})();
