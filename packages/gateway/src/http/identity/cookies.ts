import { parse } from 'hono/utils/cookie';

/** The cookies of a gateway. `secure`: it is reached by https. */
export interface Cookies {
  read(request: Request, name: CookieName): string | undefined;
  /** The `Set-Cookie` that sets one until `expiresMs`. */
  set(name: CookieName, value: string, expiresMs: number): string;
  /** The `Set-Cookie` that removes one. */
  remove(name: CookieName): string;
}

export type CookieName = 'session' | 'login';

/**
 * Scripts cannot read them, forms and pictures of other sites do not send them, and under https no other host, path or
 * plain connection can set one (`__Host-`). `Lax`, because the browser comes back from the identity provider by a link.
 */
export function createCookies(secure: boolean): Cookies {
  const nameOf = (name: CookieName): string => `${secure ? '__Host-' : ''}countersign-${name}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
  return {
    read: (request, name) => parse(request.headers.get('cookie') ?? '', nameOf(name))[nameOf(name)],
    set: (name, value, expiresMs) => {
      const seconds = Math.max(0, Math.floor((expiresMs - Date.now()) / 1_000));
      return `${nameOf(name)}=${value}; ${attributes}; Max-Age=${seconds}`;
    },
    remove: (name) => `${nameOf(name)}=; ${attributes}; Max-Age=0`,
  };
}
