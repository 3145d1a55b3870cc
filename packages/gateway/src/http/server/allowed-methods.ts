import { httpProblem } from '../responses/problem-response.ts';

/** A route as the framework lists it, such as `{ method: 'GET', path: '/runs/:id' }`. */
interface Route {
  method: string;
  path: string;
}

/** The response to a path or a method that does not exist: 404, or 405 with the methods that the path has. */
export function noSuchRoute(routes: readonly Route[], path: string): Response {
  const methods = new Set(
    routes.filter((route) => route.method !== 'ALL' && isPath(route.path, path)).map(({ method }) => method),
  );
  if (methods.size === 0) {
    return httpProblem({ status: 404, title: 'Not Found', detail: 'There is no such path: /openapi.json lists all.' });
  }
  const allow = [...(methods.has('GET') ? [...methods, 'HEAD'] : methods)].join(', ');
  const detail = `This path takes ${allow}.`;
  return httpProblem({ status: 405, title: 'Method Not Allowed', detail }, { allow });
}

function isPath(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.split('/')];
  if (pattern.includes('*') || wanted.length !== given.length) return false;
  return wanted.every((part, index) => (part.startsWith(':') ? given[index] !== '' : part === given[index]));
}
