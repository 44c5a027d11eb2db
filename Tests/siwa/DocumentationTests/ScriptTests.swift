import Foundation
import TestSupport
import Testing

/// The scripts of `scripts/` in a folder of their own, with stubs for the programs that take minutes.
@Suite struct ScriptTests {
    private static let root = Document.root.path

    /// Runs a shell script in a folder that has a copy of `scripts`, and its folder `stubs` first on `PATH`.
    private static func run(
        _ script: String, stubs: [String: String], in directory: TemporaryDirectory
    ) async throws -> ProgramRun {
        let place = directory.path
        for (path, text) in stubs {
            let file = URL(fileURLWithPath: "\(place)/\(path)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("#!/bin/bash\n\(text)\n".utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        }
        let copy =
            "cp -R -n '\(root)/scripts' . 2>/dev/null; export PATH=\"$PWD/stubs:$PATH\"; unset SIWA_BINARY SIWA_LOCKED"
        return try await ProgramRun.of(
            URL(fileURLWithPath: "/bin/bash"), ["-c", "\(copy)\n\(script)"], in: place)
    }

    // MARK: A fresh clone

    /// Answers what `scripts/build` asks before and after the build, and builds nothing.
    private static let toolchain = [
        "stubs/uname": "echo Linux",
        "stubs/swift": """
        case "$*" in
        *--show-bin-path*) echo "$PWD/.build/release" ;;
        *) echo "$*" >>arguments; mkdir -p .build/release; echo binary >.build/release/siwa ;;
        esac
        """,
        "stubs/swiftc": """
        case "$*" in
        *-print-target-info*) echo '  "runtimeResourcePath": "'$PWD'/toolchain/lib/swift"' ;;
        esac
        """,
        "toolchain/bin/llvm-profdata": "exit 0",
        "stubs/strip": #"cp "$3" "$2""#,
        "scripts/install-packages": "echo \"install-packages $*\" >>arguments",
    ]

    @Test func `a block of the page on deployment makes the program on a fresh clone`() async throws {
        let page = Document.read("docs/deploy.md").text
        let blocks = page.components(separatedBy: "```sh\n").map { $0.components(separatedBy: "```")[0] }
        let block = try #require(blocks.first { $0.contains("$(scripts/build)") })
        try await TemporaryDirectory.with { directory in
            let copy = "mkdir Benchmarks && cp -R '\(Self.root)/Benchmarks/profile' Benchmarks/"
            let run = try await Self.run("\(copy)\n\(block)\ncat siwa", stubs: Self.toolchain, in: directory)
            #expect(run.status == 0, "\(run.output)")
            #expect(run.output.hasSuffix("\nbinary\n"), "\(run.output)")
            let arguments = try String(contentsOfFile: directory.path(of: "arguments"), encoding: .utf8)
            #expect(arguments.hasPrefix("install-packages \nbuild -c release --product siwa"))
            // The profile is used.
            #expect(arguments.contains("-ir-profile-use="))
            // A second build keeps the folder of the profile.
            #expect(try await Self.run(block, stubs: [:], in: directory).status == 0)
        }
    }

    @Test func `scripts/dev builds the program on a fresh clone, and starts it with its arguments`()
        async throws
    {
        try await TemporaryDirectory.with { directory in
            let stubs = [
                "scripts/install-packages": "exit 0",
                "stubs/swift": """
                case "$*" in
                *--show-bin-path*) echo "$PWD/.build/debug" ;;
                *) mkdir -p .build/debug; cp program .build/debug/siwa ;;
                esac
                """,
                "program": #"echo "started with $*""#,
            ]
            let run = try await Self.run("scripts/dev --port 9000", stubs: stubs, in: directory)
            #expect(run.status == 0, "\(run.output)")
            #expect(run.output.hasSuffix("started with dev --port 9000\n"), "\(run.output)")
        }
    }

    // MARK: A run without tests

    #if os(Linux)
        @Test func `a run without a test fails`() async throws {
            let run = try await ProgramRun.of(
                URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath(),
                ["--testing-library", "swift-testing", "--filter", "^NoSuchTests"])
            #expect(run.status == 1)
            #expect(run.output.contains("error: no test ran"), "\(run.output)")
        }
    #endif

    @Test func `scripts/test --filter runs the tests of this library, and fails with them`() async throws {
        try await TemporaryDirectory.with { directory in
            let stubs = [
                "scripts/install-packages": "exit 0", "scripts/python-packages": "exit 0",
                "scripts/install-tools": "exit 0", "stubs/python3": "exit 0",
                "stubs/swift": #"case "$1" in test) echo "arguments: $*"; exit 3 ;; esac"#,
            ]
            let run = try await Self.run("scripts/test --filter KeySetsTests", stubs: stubs, in: directory)
            #expect(run.status == 3, "\(run.output)")
            let line = run.output.split(separator: "\n").first { $0.hasPrefix("arguments: ") }
            #expect(line?.contains(" --enable-swift-testing ") == true, "\(run.output)")
            #expect(line?.hasSuffix(" --filter KeySetsTests") == true)
        }
    }

    // MARK: Lanes

    #if os(Linux)
        /// Runs `scripts/test-lanes` with a program in place of the tests. The program knows its lane by its first argument
        /// of the two: `--filter` for PostgreSQL, `--skip` for the others. Its output is its log; the file `$events` is that
        /// of the runner.
        private static func lanes(
            _ program: String, variables: String = "", in directory: TemporaryDirectory
        ) async throws -> ProgramRun {
            let runner = """
                while [ $# -gt 0 ]; do
                    case $1 in
                    --filter) lane=postgres ;;
                    --skip) lane=${lane:-others} ;;
                    --event-stream-output-path) events=$2 ;;
                    esac
                    shift
                done
                event() {
                    printf '{"kind":"event","payload":{"instant":{"absolute":%s,"since1970":1.5},"kind":"test%s",' "$1" "$2" >>"$events"
                    printf '"messages":[],"testID":"ATests.BTests\\\\/`%s`()\\\\/B.swift:6:6"},"version":0}\\n' "$3" >>"$events"
                }
                summary() { echo "✔ Test run with $1 in 1 suite passed after 0.1 seconds."; }
                \(program)
                """
            let stubs = ["stubs/swift": "echo \"$PWD/bin\"", "bin/siwaPackageTests.xctest": runner]
            return try await run(
                "SIWA_SANITIZED=1 \(variables) scripts/test-lanes >printed 2>&1; status=$?; cat printed; exit $status",
                stubs: stubs, in: directory)
        }

        @Test func `a lane is reported when it ends, while others run`() async throws {
            try await TemporaryDirectory.with { directory in
                let run = try await Self.lanes(
                    """
                    if [ $lane = postgres ]; then echo "✘ Test x() recorded an issue at B.swift:1:1: no"; exit 1; fi
                    for turn in $(seq 600); do grep -q '^postgres: failed' printed && break; sleep 0.1; done
                    grep '^postgres: failed' printed || exit 1
                    summary "2 tests"
                    """, in: directory)
                #expect(run.status == 1)
                #expect(run.output.contains("\npostgres: failed with status 1"), "\(run.output)")
                #expect(
                    run.output.contains("\nothers: passed. ✔ Test run with 2 tests in 1 suite"),
                    "\(run.output)")
                #expect(run.output.contains("x() recorded an issue"))
                #expect(run.output.hasSuffix("error: tests failed in: postgres\n"))
            }
        }

        @Test(arguments: [#"summary "0 tests""#, "echo 'no summary'"])
        func `a lane that passes without a test has failed`(end: String) async throws {
            try await TemporaryDirectory.with { directory in
                let run = try await Self.lanes(
                    #"if [ $lane = others ]; then \#(end); else summary "1 test"; fi"#, in: directory)
                #expect(run.status == 1)
                #expect(run.output.contains("\npostgres: passed."), "\(run.output)")
                #expect(run.output.hasSuffix("error: tests failed in: others\n"), "\(run.output)")
            }
        }

        @Test func `a lane that hangs is ended, and names the test that hung, and no other`() async throws {
            try await TemporaryDirectory.with { directory in
                let run = try await Self.lanes(
                    #"""
                    event 1.0 Started "has passed"; event 2.5 Ended "has passed"
                    printf '◇ Test "has passed" started.\n'
                    printf 'a line of a service that ends in ✔ Test "has passed" passed after 1.5 seconds.\n'
                    [ $lane = others ] && { summary "1 test"; exit; }
                    event 3.0 Started "hangs"
                    sleep 600
                    """#, variables: "SIWA_LANE_MINUTES=0.1", in: directory)
                #expect(run.status == 1)
                #expect(
                    run.output.contains("✘ Test ATests.BTests/`hangs`()/B.swift:6:6 was running"),
                    "\(run.output)")
                #expect(!run.output.contains("`has passed`()/B.swift:6:6 was running"))
                #expect(run.output.contains("postgres ended without a summary."))
            }
        }

        @Test func `the five slowest tests of all lanes are printed`() async throws {
            try await TemporaryDirectory.with { directory in
                let run = try await Self.lanes(
                    #"""
                    for number in 1 2 3 4; do
                        event 10 Started "$lane $number"
                        event $((10 + number * (${#lane} + 5))) Ended "$lane $number"
                    done
                    summary "4 tests"
                    """#, in: directory)
                #expect(run.status == 0, "\(run.output)")
                let lines = run.output.split(separator: "\n").suffix(5)
                #expect(
                    lines.map { $0.prefix { $0 != "(" } } == [
                        "52.0 s, postgres: ATests.BTests/`postgres 4`",
                        "44.0 s, others: ATests.BTests/`others 4`",
                        "39.0 s, postgres: ATests.BTests/`postgres 3`",
                        "33.0 s, others: ATests.BTests/`others 3`",
                        "26.0 s, postgres: ATests.BTests/`postgres 2`",
                    ], "\(run.output)")
            }
        }
    #endif
}

/// The search of `scripts/scan-logs`, with one planted secret of each kind.
@Suite struct ScanLogsTests {
    private static func scan(_ logs: [String]) async throws -> ProgramRun {
        try await TemporaryDirectory.with { directory in
            for (index, log) in logs.enumerated() { _ = try directory.write(log, to: "\(index).log") }
            let script = ProjectFolder.root.appending(path: "scripts/scan-logs")
            return try await ProgramRun.of(script, [directory.path])
        }
    }

    private static let clean = """
        time=2026-11-22T16:29:54.944Z level=info msg=request method=POST route=/v1/sign-ins status=201 \
        duration_us=1582 request_id=j02o09si5fu21 caller=development trace_id=4bf92f3577b34da6a3ce929d0e0e4736
        time=2026-11-22T16:29:54.944Z level=notice logger=siwa msg=stopped metric=siwa_http_requests_turned_away_total
        {"time":"2026-11-22T16:29:54.944Z","level":"info","account":"acc_019ab7d8-5f6e-7000-8000-000000000000"}
        msg="oauth.issuer has the host siwa.example.com, postgres://host/siwa and user@localhost"

        """

    @Test func `a clean log passes`() async throws {
        let run = try await Self.scan([Self.clean, Self.clean])
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("2 logs"))
    }

    @Test func `a run without logs fails`() async throws {
        #expect(try await Self.scan([]).status == 1)
    }

    @Test(arguments: [
        ("eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIwMDEyMzQifQ.c2ln", "a token"),
        ("siwa_0Zq3v8fJx2nT5uYbRk7wLmAe9cHdGpSi4oQ1tVzX6y0", "a key, code or token of siwa"),
        ("siwa_rt_0Zq3v8fJx2nT5uYbRk7wLmAe9cHdGpSi", "a key, code or token of siwa"),
        ("c0123456789abcdef0123456789abcdef.0.mrtz.abc", "a code or token of Apple"),
        ("001234.0123456789abcdef0123456789abcdef.0123", "a sub of Apple"),
        ("q4zjk7x2rt@privaterelay.appleid.com", "an e-mail address"),
        ("jane.doe+x@mail.example.org", "an e-mail address"), ("-----BEGIN PRIVATE KEY-----", "a key in PEM"),
        ("key=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "a key in base64"),
        ("Authorization: Bearer abcdefghijklmnopqrstuvwx", "a header field"),
        ("postgres://siwa:hunter2@db.internal/siwa", "a password in a URL"),
        ("\u{0}\u{1} jane@example.org", "an e-mail address"),
    ])
    func `a secret is found, and its place is printed without it`(secret: String, kind: String) async throws {
        let run = try await Self.scan([Self.clean, Self.clean + "msg=\"it was \(secret)\"\n"])
        #expect(run.status == 1)
        #expect(run.output.contains("1.log:5: \(kind)"), "\(run.output)")
        #expect(!run.output.contains(secret))
    }
}
