# The server in a container: a small image of Debian with the package of `make dist`.
#
#   docker build -t settle .
#   docker run -d -p 127.0.0.1:5984:5984 -v settle:/data -e SETTLE_ADMIN=admin -e SETTLE_ADMIN_PASSWORD=… settle
#
# Without these two variables the first start prints a password for admin. docs/OPERATION.md has all settings. As one of many
# servers over a PostgreSQL it needs no volume, and an empty SETTLE_DATA.
FROM swift:6.3-bookworm AS build
RUN apt-get update -q && apt-get install -y -q --no-install-recommends dpkg-dev git make
WORKDIR /source
COPY . .
RUN make dist

FROM debian:12-slim
COPY --from=build /source/dist/*.deb /tmp/
RUN apt-get update -q \
    && apt-get install -y -q --no-install-recommends ca-certificates /tmp/settle_*.deb \
    && rm -rf /var/lib/apt/lists/* /tmp/*.deb \
    && useradd --system --home-dir /data --create-home --shell /usr/sbin/nologin settle
USER settle
VOLUME /data
ENV SETTLE_DATA=/data SETTLE_HOST=0.0.0.0 SETTLE_ACCESS_LOG=-
EXPOSE 5984
STOPSIGNAL SIGTERM
# Checks that the server answers. A server that requires a login for every request answers 401. If the server has TLS of its own,
# write another check.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${SETTLE_PORT:-5984} && printf 'GET /_up HTTP/1.0\\r\\nHost: localhost\\r\\n\\r\\n' >&3 && read -r line <&3 && [[ $line == *' 200 '* || $line == *' 401 '* ]]"]
ENTRYPOINT ["settle", "serve"]
