// Loads the page anew if one of its files is missing: the gateway was replaced by one with another version of the inbox.
// This file has the same name in every version.
const [navigation] = performance.getEntriesByType('navigation');
const waitMs = navigation?.type === 'reload' ? 2_000 : 0;
addEventListener(
  'error',
  ({ target }) => {
    const isFile =
      target instanceof HTMLScriptElement || (target instanceof HTMLLinkElement && target.rel === 'stylesheet');
    if (isFile) setTimeout(() => location.reload(), waitMs);
  },
  // Errors of elements do not bubble.
  { capture: true },
);
