import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ViewProps } from '../state/paths.ts';

/** If its file is missing again after the page was loaded anew, the next load waits, as in public/reload.js. */
const pauseMs = 2_000;

/** A view whose file is loaded when it is shown for the first time, so that the first view of others is small. */
export function lazyView(load: () => Promise<ComponentType<ViewProps>>): ComponentType<ViewProps> {
  let loaded: ComponentType<ViewProps> | undefined;
  return function LazyView(props) {
    // As functions: a component is one, and would be called.
    const [, setLoaded] = useState(() => loaded);
    useEffect(() => {
      if (loaded !== undefined) return;
      load().then(
        (view) => {
          loaded = view;
          setLoaded(() => view);
        },
        () => setTimeout(() => location.reload(), pauseMs),
      );
    }, []);
    const View = loaded;
    return View === undefined ? <p class="soft">Loading …</p> : <View {...props} />;
  };
}
