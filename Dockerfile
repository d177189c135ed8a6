# docker build -t runner .
# docker run --rm -v "$PWD:/project" -e RUNNER_BASE_URL -e RUNNER_API_KEY runner run storyboard.yaml
# docker build --build-arg FEATURES=cluster -t runner-cluster:0.1.0 .     # with `worker` and `run --engine`, for packaging/cluster
#
# The project is a volume: its folder .runner is the record of what was paid for. The program runs as the user 65532; to write into a folder of
# your own, add `--user "$(id -u):$(id -g)"`.

FROM docker.io/library/rust:1.95.0-bookworm AS build
WORKDIR /source
COPY . .
# The toolchain of the image, whatever rust-toolchain.toml asks rustup for.
ENV RUSTUP_TOOLCHAIN=1.95.0
ARG FEATURES=""
RUN cargo build --release --locked --package runner --features "$FEATURES" && strip target/release/runner
# A new volume has the rights of the folder that the image has in its stead: containers may have other users.
RUN mkdir -p /volumes/data /volumes/store && chmod 1777 /volumes/data /volumes/store

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /source/target/release/runner /usr/local/bin/runner
COPY --from=build /volumes/ /
WORKDIR /project
VOLUME /project
USER nonroot
ENTRYPOINT ["/usr/local/bin/runner"]
CMD ["--help"]
