import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ViewProps } from '../state/paths.ts';

/** The pause before the page is loaded again because a file is missing, as in public/reload.js. */
const pauseMs = 2_000;

/** A view whose file is loaded only when the view is shown first, so that other views load faster. */
export function lazyView(load: () => Promise<ComponentType<ViewProps>>): ComponentType<ViewProps> {
  let loaded: ComponentType<ViewProps> | undefined;
  return function LazyView(props) {
    // `useState` calls a function that it gets. A component is a function, so another function around it returns it.
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
