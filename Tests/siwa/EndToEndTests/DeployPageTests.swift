import Cryptography
import Encodings
import Foundation
import SiwaBinary
import TestSupport
import Testing

#if os(Linux)
    /// The commands of `docs/deploy.md` after the build, from the first block to the last, then the upgrade, the new
    /// sealing and Prometheus, on a bare tree: a folder that stands for the root, and stubs for the programs that change a
    /// system.
    @Suite struct DeployPageTests {
        private static let root = ProjectFolder.root

        @Test(.timeLimit(.hung)) func `each block of the page works after the blocks before it`() async throws
        {
            // Two blocks build; `ScriptTests` and `scripts/test-packages` run them.
            let deployment = try Self.blocks(of: "deploy.md").filter { !$0.contains("scripts/") }
            let upgrade = try Self.blocks(of: "backup-and-upgrade.md").filter {
                $0.contains("/usr/local/bin/siwa") || $0.contains("siwa reseal")
            }
            let monitoring = try Self.blocks(of: "monitoring.md")
            #expect(deployment.count >= 8 && upgrade.count == 2 && monitoring.count == 1)
            try await ServiceProcess.with { service, directory in
                try await Self.makeBareTree(in: directory)
                for block in deployment + upgrade + monitoring {
                    let commands = block.replacing(#/(^|[^\w.])(\/(?:etc|usr|var)\/)/#) {
                        "\($0.1)\(directory.path)\($0.2)"
                    }
                    .replacing("http://127.0.0.1:8080", with: "http://127.0.0.1:\(service.port)")
                    try await OperatorTool.run(
                        "sh", ["-eu", "-c", commands],
                        ["PATH": "\(directory.path)/stubs:\(directory.path)/usr/local/bin:/usr/bin:/bin"],
                        in: directory
                    ).checked()
                }
                #expect(try directory.text(of: "etc/siwa/sealing-key").contains("="))
                #expect(try directory.text(of: "etc/systemd/system/siwa.service").contains("ExecStart="))
                #expect(
                    try directory.text(of: "usr/share/bash-completion/completions/siwa").contains(
                        "healthcheck"))
                let done = try directory.text(of: "done")
                for command in [
                    "apt-get install", "useradd --system", "systemctl enable --now siwa", "siwa doctor",
                    "nginx -t", "systemctl reload nginx", "caddy validate", "systemctl reload caddy",
                    "siwa reseal", "promtool check config", "systemctl restart prometheus",
                ] { #expect(done.contains(command), "\(command): \(done)") }
            }
        }

        private static func blocks(of page: String) throws -> [String] {
            try ProjectFolder.text("docs/\(page)")
                .matches(of: #/(?ms)^ *```sh\n(.*?)^ *```/#).map { String($0.1) }
        }

        /// There is no systemd here: a stub reads the options of `systemd-run` as systemd does, and runs the command
        /// with the variables of the file alone.
        @Test(.timeLimit(.hung), arguments: ["deploy.md", "backup-and-upgrade.md"])
        func `the line with systemd-run gives a command the variables of the service`(name: String)
            async throws
        {
            let page = try ProjectFolder.text("docs/\(name)")
            let line = try #require(
                page.firstMatch(of: #/(?m)^systemd-run (?:.*\\\n)+.* siwa (?:doctor|reseal)$/#)
            ).0
            try await TemporaryDirectory.with { directory in
                try await Self.makeBareTree(in: directory)
                try FileManager.default.moveItem(
                    atPath: directory.path(of: "siwa"), toPath: directory.path(of: "usr/local/bin/siwa"))
                try FileManager.default.createDirectory(
                    atPath: directory.path(of: "etc/siwa"), withIntermediateDirectories: true)
                let key = Base64.encode(SecureRandom.bytes(count: 32))
                let variables = try ServiceProcess.variables(directory).merging(
                    ["SIWA_SEALING_KEYS": "test=\(key)", "SIWA_ENV": "development"]) { $1 }
                try directory.write(
                    "# of systemd\n" + variables.map { "\($0.key)=\($0.value)\n" }.joined(),
                    to: "etc/siwa/siwa.env")
                try directory.write(Self.systemdRun, to: "stubs/systemd-run")
                #expect(await (try await ServiceProcess.serve(directory, variables)).stop() == 0)
                let command = line.replacing(#/\/(?=(?:etc|usr|var)\/)/#) { _ in "\(directory.path)/" }
                    .replacing(" siwa doctor", with: " siwa reseal")
                for shell in ["sh", "bash"] {
                    let run = try await OperatorTool.run(
                        shell, ["-eu", "-c", String(command)],
                        ["PATH": "\(directory.path)/stubs:/usr/bin:/bin", "DATABASE_URL": "of the shell"],
                        in: directory
                    ).checked()
                    #expect(run.output.contains("Resealed: 0. Sealed by test already: 0."))
                    #expect(run.output.components(separatedBy: "resealing: 100 %, 0 of 0").count == 2)
                }
            }
        }

        private static let systemdRun = #"""
            #!/bin/sh
            file= folder=
            while :; do
                case $1 in
                    --property=EnvironmentFile=*) file=${1#--property=EnvironmentFile=} ;;
                    --working-directory=*) folder=${1#--working-directory=} ;;
                    --pipe | --wait | --quiet | --uid=siwa | --property=UMask=0077) ;;
                    --property=StateDirectory=siwa | --property=StateDirectoryMode=0700) ;;
                    -*) echo "systemd-run: unknown option $1" >&2; exit 1 ;;
                    *) break ;;
                esac
                shift
            done
            while IFS= read -r line; do
                case $line in '' | '#'*) ;; *) set -- "$line" "$@" ;; esac
            done < "$file"
            cd "$folder" && exec env -i PATH="${0%/stubs/*}/usr/local/bin:/usr/bin:/bin" "$@"

            """#

        /// The files that the page copies to the server, the folders of a bare system, and the stubs.
        private static func makeBareTree(in directory: TemporaryDirectory) async throws {
            try directory.write("key", to: "AuthKey_ABC123DEFG.p8")
            let folders = [
                "docs", "stubs", "etc/systemd/system", "etc/nginx/conf.d", "etc/caddy", "etc/prometheus",
                // Of the package.
                "etc/siwa", "usr/share/doc/siwa",
                "usr/local/bin", "usr/share/bash-completion/completions", "var/lib/siwa",
            ]
            for folder in folders {
                try FileManager.default.createDirectory(
                    atPath: directory.path(of: folder), withIntermediateDirectories: true)
            }
            for folder in ["docs/deploy", "docs/monitoring"] {
                try FileManager.default.copyItem(
                    atPath: root.appending(path: folder).path, toPath: directory.path(of: folder))
            }
            try FileManager.default.copyItem(
                atPath: root.appending(path: "docs/deploy").path,
                toPath: directory.path(of: "usr/share/doc/siwa/examples"))
            try FileManager.default.copyItem(
                at: try BuiltSiwa.url(), to: URL(fileURLWithPath: directory.path(of: "siwa")))
            let record = #"echo "${0##*/} $*" >> "$HOME/done""#
            var stubs = Dictionary(
                uniqueKeysWithValues: [
                    "apt-get", "useradd", "systemctl", "systemd-run", "nginx", "caddy", "promtool",
                ].map { ($0, record) })
            stubs["getent"] = "exit 2"
            // The server is this machine, and its folder the one of these files.
            stubs["scp"] = """
                for word; do case $word in -* | *:) ;; *) [ -e "${word##*/}" ] || cp -r "$word" . ;; esac; done
                """
            // There is no group siwa here.
            stubs["install"] = """
                for word; do shift; case $word in --group=* | --owner=*) ;; *) set -- "$@" "$word" ;; esac; done
                exec /usr/bin/install "$@"
                """
            for (name, text) in stubs {
                let path = try directory.write("#!/bin/sh\n\(text)\n", to: "stubs/\(name)")
                try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            }
        }
    }

    /// The files of docs/deploy, checked by the programs that read them.
    @Suite struct DeploymentFileTests {
        @Test func `systemd takes the unit`() async throws {
            try await TemporaryDirectory.with { directory in
                let unit = try Self.text("siwa.service")
                    .replacing("/usr/local/bin/siwa", with: try BuiltSiwa.url().path)
                try directory.write(unit, to: "siwa.service")
                let verdict = try await OperatorTool.run(
                    "systemd-analyze", ["verify", "--man=no", "\(directory.path)/siwa.service"], in: directory
                ).checked()
                #expect(verdict.output.isEmpty)
            }
        }

        /// systemd's own score, from 0 (safe) to 10 (unsafe). Services with the rights of a user have 9.
        @Test func `systemd finds little that the unit exposes`() async throws {
            try await TemporaryDirectory.with { directory in
                try directory.write(try Self.text("siwa.service"), to: "siwa.service")
                try await OperatorTool.run(
                    "systemd-analyze",
                    [
                        "security", "--offline=yes", "--threshold=20", "--no-pager",
                        "\(directory.path)/siwa.service",
                    ], in: directory
                ).checked()
            }
        }

        @Test func `nginx takes its configuration`() async throws {
            try await TemporaryDirectory.with { directory in
                try await OperatorTool.run(
                    "openssl",
                    [
                        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", "privkey.pem", "-out", "fullchain.pem", "-subj", "/CN=signin.example.com",
                    ], in: directory
                ).checked()
                let site = try Self.text("nginx.conf")
                    .replacing("/etc/letsencrypt/live/signin.example.com", with: directory.path)
                try directory.write(site, to: "siwa.conf")
                // What a package's nginx.conf has around it, with folders that every user may write.
                let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                    .map { "\($0)_temp_path \(directory.path)/\($0);" }
                try directory.write(
                    """
                    error_log stderr; pid \(directory.path)/pid; events {}
                    http { access_log off; \(folders.joined(separator: " ")) include \(directory.path)/siwa.conf; }
                    """, to: "nginx.conf")
                let verdict = try await OperatorTool.run(
                    "nginx",
                    ["-t", "-e", "stderr", "-p", directory.path, "-c", "\(directory.path)/nginx.conf"],
                    in: directory
                ).checked()
                #expect(!verdict.output.contains("[warn]"), "\(verdict.output)")
            }
        }

        @Test func `Caddy takes its configuration`() async throws {
            try await TemporaryDirectory.with { directory in
                try directory.write(try Self.text("Caddyfile"), to: "Caddyfile")
                let verdict = try await OperatorTool.run(
                    "caddy",
                    ["validate", "--adapter", "caddyfile", "--config", "\(directory.path)/Caddyfile"],
                    ["XDG_CONFIG_HOME": directory.path, "XDG_DATA_HOME": directory.path], in: directory
                ).checked()
                #expect(verdict.output.contains("Valid configuration"))
            }
        }

        private static func text(_ name: String) throws -> String {
            return try ProjectFolder.text("docs/deploy/\(name)")
        }

    }
#endif
