// Loads the page again if one of its files is missing: then the gateway has another version of the inbox now, in which
// files have other names. Only this file has the same name in every version.
const [navigation] = performance.getEntriesByType('navigation');
const waitMs = navigation?.type === 'reload' ? 2_000 : 0;
addEventListener(
  'error',
  ({ target }) => {
    const isFile =
      target instanceof HTMLScriptElement || (target instanceof HTMLLinkElement && target.rel === 'stylesheet');
    if (isFile) setTimeout(() => location.reload(), waitMs);
  },
  // The listener captures, because errors of elements do not bubble.
  { capture: true },
);
