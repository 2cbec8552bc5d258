/** How many steps there are; apart from them, so that a start need not load the steps to see that none is missing. */
export const SCHEMA_VERSION = 21;
