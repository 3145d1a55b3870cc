import { render } from 'preact';
import { App } from './app.tsx';
import { loadMe } from './state/me.ts';
import { followClicks } from './state/location.ts';

followClicks();
void loadMe();
const place = document.getElementById('app')!;
place.replaceChildren();
render(<App />, place);
