/** What several parts of the page look at, and are told of when it changes. */

/** Tell a person who does not see the page. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

/** Values by name; who watches a name is told when its value changes. */
export class Store {
  constructor(values) {
    this.values = values;
    this.watchers = new Map();
  }

  /** @param {string} name */
  get(name) {
    return this.values[name];
  }

  /**
   * @param {string} name
   * @param {unknown} value
   */
  set(name, value) {
    if (this.values[name] === value) return;
    this.values[name] = value;
    for (const told of this.watchers.get(name) ?? []) told(value);
  }

  /**
   * @param {string} name
   * @param {(value: any) => void} told
   */
  watch(name, told) {
    if (!this.watchers.has(name)) this.watchers.set(name, []);
    this.watchers.get(name).push(told);
  }
}

const THEMES = ["auto", "light", "dark"];

/**
 * Light, dark, or as the system has it: a button that goes round.
 * @param {HTMLElement} button
 * @param {() => void} changed
 */
export function themeSwitch(button, changed) {
  let theme = "auto";
  const show = () => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = `theme: ${theme}`;
    changed();
  };
  button.addEventListener("click", () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    show();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  show();
}

/** Whether things should not move by themselves. */
export function still() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
