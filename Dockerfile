# Countersign's command line. `docker-compose.yml` runs it as set-up, worker and gateway, with the user's project, which
# holds countersign.config.ts, mounted at /countersign/project: from there `import … from 'countersign'` finds this
# package, and other imports find what it depends on.

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /countersign
COPY package.json package-lock.json .npmrc ./
COPY packages/gateway/package.json ./packages/gateway/
COPY packages/cli/package.json ./packages/cli/
COPY packages/mcp/package.json ./packages/mcp/
RUN npm install --no-audit
COPY . ./
RUN npm run build

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /countersign
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/*
COPY package.json package-lock.json .npmrc ./
COPY packages/gateway/package.json ./packages/gateway/
COPY packages/cli/package.json ./packages/cli/
COPY packages/mcp/package.json ./packages/mcp/
# Temporal's packages are peers and development dependencies: `--omit=dev` would leave them out.
RUN npm pkg delete devDependencies && npm install --no-audit && npm cache clean --force
COPY --from=build /countersign/dist/countersign ./
COPY --from=build /countersign/dist/gateway ./packages/gateway/
COPY --from=build /countersign/dist/cli ./packages/cli/
COPY --from=build /countersign/dist/mcp ./packages/mcp/
COPY docker/worker-health.js docker/gateway-health.js ./docker/
RUN mkdir project
USER node
WORKDIR /countersign/project
ENTRYPOINT ["node", "/countersign/packages/cli/dist/main.js"]
CMD ["--help"]
