# Builds the service with the packages that were tested, and puts the one binary on a bare Debian. The target siwa-dev is
# the trial instead, with the fakes. The target release takes siwa from the archive that scripts/package has made, and
# compiles nothing: docker build --target release --build-arg ARCHIVE=dist/siwa-0.1.0-debian12-amd64.tar.gz .
# It needs BuildKit, which runs only the stages of the target.
#
# A tag can move. To build the same image again, name the digests of these two, which `docker buildx imagetools inspect`
# prints: --build-arg SWIFT_IMAGE=swift@sha256:... --build-arg DEBIAN_IMAGE=debian@sha256:...
ARG SWIFT_IMAGE=swift:6.3.1-bookworm
ARG DEBIAN_IMAGE=debian:bookworm-slim
FROM ${SWIFT_IMAGE} AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends pkg-config libssl-dev libjwt-dev libsqlite3-dev libpq-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY Package.swift ./
COPY Sources Sources
COPY Tests Tests
COPY docs/backends docs/backends
COPY Benchmarks/profile Benchmarks/profile
COPY scripts/build scripts/package-versions scripts/package-versions.txt scripts/
# For `siwa --version`: --build-arg SIWA_COMMIT=$(git rev-parse --short=12 HEAD)
ARG SIWA_COMMIT
RUN install -D "$(scripts/build --locked)" /out/siwa && strip --strip-debug /out/siwa

FROM build AS build-dev
RUN install -D "$(scripts/build --dev --locked)" /out/siwa-dev && strip --strip-debug /out/siwa-dev

FROM ${DEBIAN_IMAGE} AS runtime
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libssl3 libjwt0 libsqlite3-0 libpq5 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --shell /usr/sbin/nologin --home-dir /var/lib/siwa --create-home siwa
USER siwa
WORKDIR /var/lib/siwa
VOLUME /var/lib/siwa

FROM runtime AS siwa-dev
COPY --from=build-dev /out/siwa /out/siwa-dev /usr/local/bin/
EXPOSE 8080 8081 8082 8083
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["siwa", "healthcheck", "--url", "http://127.0.0.1:8080"]
ENTRYPOINT ["siwa-dev"]
CMD ["dev"]

FROM runtime AS service
ENV SIWA_HOST=0.0.0.0 \
    SIWA_DRAIN_SECONDS=5 \
    DATABASE_URL=sqlite:///var/lib/siwa/siwa.sqlite
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["siwa", "healthcheck"]
ENTRYPOINT ["siwa"]
CMD ["serve"]

# ADD unpacks the archive. Without the argument it finds no file.
FROM ${DEBIAN_IMAGE} AS archive
ARG ARCHIVE=dist/none
ADD ${ARCHIVE} /out/
RUN mv /out/siwa-*/bin/siwa /out/siwa

FROM service AS release
COPY --from=archive /out/siwa /usr/local/bin/siwa

FROM service
COPY --from=build /out/siwa /usr/local/bin/siwa
