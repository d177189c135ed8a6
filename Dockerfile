# docker build -t runner .
# docker run --rm -v "$PWD:/project" -e RUNNER_BASE_URL -e RUNNER_API_KEY runner run storyboard.yaml
#
# The project is a volume: its folder .runner is the record of what was paid for. The program runs as the user 65532; to write into a folder of
# your own, add `--user "$(id -u):$(id -g)"`.

FROM docker.io/library/rust:1.95.0-bookworm AS build
WORKDIR /source
COPY . .
# The toolchain of the image, whatever rust-toolchain.toml asks rustup for.
ENV RUSTUP_TOOLCHAIN=1.95.0
RUN cargo build --release --locked --package runner && strip target/release/runner

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /source/target/release/runner /usr/local/bin/runner
WORKDIR /project
VOLUME /project
USER nonroot
ENTRYPOINT ["/usr/local/bin/runner"]
CMD ["--help"]
