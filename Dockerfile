# PostgreSQL 15 with widecol on Debian 12.  doc/operations.md, "Packages", says how to use it.
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
	gcc g++ make libcurl4-openssl-dev libicu-dev libpcre2-dev librocksdb-dev postgresql-server-dev-15
COPY . /src
RUN make -C /src PG_CONFIG=/usr/lib/postgresql/15/bin/pg_config DESTDIR=/installed install

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends libcurl4 libpcre2-8-0 librocksdb7.8 postgresql-15 \
	&& rm -rf /var/lib/apt/lists/* \
	&& { echo "shared_preload_libraries = 'widecol'"; echo "listen_addresses = '*'"; } \
		>/etc/postgresql/15/main/conf.d/widecol.conf \
	&& echo "host all all all scram-sha-256" >>/etc/postgresql/15/main/pg_hba.conf
COPY --from=build /installed /
USER postgres
VOLUME /var/lib/postgresql
EXPOSE 5432
STOPSIGNAL SIGINT
CMD ["/usr/lib/postgresql/15/bin/postgres", "-D", "/var/lib/postgresql/15/main", \
	"-c", "config_file=/etc/postgresql/15/main/postgresql.conf"]
