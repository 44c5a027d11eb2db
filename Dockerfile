# Builds the service and puts the one binary on a bare Debian.
FROM swift:6.3-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends pkg-config libssl-dev libjwt-dev libsqlite3-dev libpq-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY Package.swift ./
COPY Sources Sources
COPY Tests Tests
COPY docs/backends docs/backends
COPY Benchmarks/profile Benchmarks/profile
COPY scripts/build scripts/build
RUN install -D "$(scripts/build)" /out/siwa && strip --strip-debug /out/siwa

FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libssl3 libjwt0 libsqlite3-0 libpq5 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --shell /usr/sbin/nologin --home-dir /var/lib/siwa --create-home siwa
COPY --from=build /out/siwa /usr/local/bin/siwa
USER siwa
WORKDIR /var/lib/siwa
VOLUME /var/lib/siwa
ENV SIWA_HOST=0.0.0.0 \
    SIWA_DRAIN_SECONDS=5 \
    DATABASE_URL=sqlite:///var/lib/siwa/siwa.sqlite
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["siwa", "healthcheck"]
ENTRYPOINT ["siwa"]
CMD ["serve"]
