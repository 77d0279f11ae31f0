# The command in a container. From the folder of the project:
#   docker build -f examples/deploy/Containerfile.command -t epivote-command .
#   docker run --rm -v "$PWD:/data" epivote-command aggregate ballots.csv --size 1..2 --out result
FROM docker.io/library/python:3.12-slim

RUN useradd --system --create-home --uid 10001 epivote
WORKDIR /build
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir . && rm -rf /build

USER epivote
# Files are read from and written to the folder that is mounted here; with --user "$(id -u)" they belong to you.
WORKDIR /data
ENTRYPOINT ["epivote"]
CMD ["--help"]
