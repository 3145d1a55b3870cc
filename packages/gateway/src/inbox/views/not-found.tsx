import { hrefOf } from '../state/location.ts';

export function NotFoundView() {
  return (
    <section class="narrow">
      <h1>Page not found</h1>
      <p>
        <a href={hrefOf('/')}>Go to the inbox</a>
      </p>
    </section>
  );
}
