/**
 * The console's pages, in the order of the navigation. A page is a file of `pages/` with the component as its default export,
 * loaded when it is opened first, a line here and a line in `../page_files.ts`.
 */

/** @typedef {"owner" | "operator" | "member" | "auditor"} Role */

/**
 * @typedef {object} PageEntry
 * @property {string} id the first step of the address
 * @property {string} title
 * @property {string} group
 * @property {string} icon the path of a 20 by 20 drawing, in lines
 * @property {readonly Role[]} [roles] who sees it; by default everybody
 * @property {() => Promise<{ default: (props: {}) => import("./lib/html.js").Children }>} load
 */

/** @type {readonly PageEntry[]} */
export const PAGES = [
  {
    id: "overview",
    title: "Overview",
    group: "Observe",
    icon: "M3 16V9m5 7V4m5 12v-6m4 6V7",
    load: () => import("./pages/overview.js"),
  },
  {
    id: "live",
    title: "Live",
    group: "Observe",
    icon: "M3 10h3l2-5 4 10 2-5h3",
    load: () => import("./pages/live.js"),
  },
  {
    id: "explore",
    title: "Explore",
    group: "Observe",
    icon: "M9 14a5 5 0 1 0 0-10 5 5 0 0 0 0 10zm3.6-1.4L17 17",
    load: () => import("./pages/explore.js"),
  },
  {
    id: "playground",
    title: "Playground",
    group: "Use",
    icon: "M4 5h12v8H9l-3 3v-3H4z",
    load: () => import("./pages/playground.js"),
  },
  {
    id: "keys",
    title: "Keys",
    group: "Manage",
    icon: "M8 12a4 4 0 1 1 2.6-1L17 4.5M14 7.5l2 2",
    load: () => import("./pages/keys.js"),
  },
  {
    id: "models",
    title: "Models",
    group: "Manage",
    icon: "M10 3l6 3.5v7L10 17l-6-3.5v-7zM4 6.5l6 3.5 6-3.5M10 10v7",
    roles: ["owner", "operator", "auditor"],
    load: () => import("./pages/models.js"),
  },
  {
    id: "policies",
    title: "Policies",
    group: "Manage",
    icon: "M10 3l6 2v5c0 4-3 6-6 7-3-1-6-3-6-7V5z",
    roles: ["owner", "operator", "auditor"],
    load: () => import("./pages/policies.js"),
  },
  {
    id: "configuration",
    title: "Configuration",
    group: "Manage",
    icon: "M4 6h8m4 0h-1M4 14h1m4 0h7M12 4v4M7 12v4",
    roles: ["owner", "operator", "auditor"],
    load: () => import("./pages/configuration.js"),
  },
];
