import { hrefOf } from '../state/location.ts';

export function NotFoundView() {
  return (
    <section class="narrow">
      <h1>There is no such page</h1>
      <p>
        <a href={hrefOf('/')}>Go to the inbox</a>
      </p>
    </section>
  );
}
