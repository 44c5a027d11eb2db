import Foundation
import SiwaBinary
import TestSupport
import Testing

#if os(Linux)
    /// The commands of `docs/deploy.md` after the build, from the first block to the last, then the upgrade, the new
    /// sealing and Prometheus, on a bare tree: a folder that stands for the root, and stubs for the programs that change a
    /// system.
    @Suite struct DeployPageTests {
        private static let root = OperatorTool.root

        @Test(.timeLimit(.hung)) func `each block of the page works after the blocks before it`() async throws
        {
            // The first block builds; `ScriptTests` runs it.
            let deployment = try Self.blocks(of: "deploy.md").dropFirst()
            let upgrade = try Self.blocks(of: "backup-and-upgrade.md").filter {
                $0.contains("/usr/local/bin/siwa")
            }
            let monitoring = try Self.blocks(of: "monitoring.md")
            #expect(deployment.count >= 8 && upgrade.count == 2 && monitoring.count == 1)
            try await TemporaryDirectory.with { directory in
                let service = try await ServiceProcess.serve(directory, try CrashTests.variables(directory))
                try await Self.makeBareTree(in: directory)
                for block in deployment + upgrade + monitoring {
                    let commands = block.replacing(#/(^|[^\w.])(\/(?:etc|usr|var)\/)/#) {
                        "\($0.1)\(directory.path)\($0.2)"
                    }
                    .replacing("http://127.0.0.1:8080", with: "http://127.0.0.1:\(service.port)")
                    let run = try await OperatorTool.run(
                        "sh", ["-eu", "-c", commands],
                        ["PATH": "\(directory.path)/stubs:\(directory.path)/usr/local/bin:/usr/bin:/bin"],
                        in: directory)
                    #expect(run.status == 0, "\(commands)\n\(run.output)")
                }
                func text(_ path: String) throws -> String {
                    try String(contentsOfFile: directory.path(of: path), encoding: .utf8)
                }
                #expect(try text("etc/siwa/sealing-key").contains("="))
                #expect(try text("etc/systemd/system/siwa.service").contains("ExecStart="))
                #expect(try text("usr/share/bash-completion/completions/siwa").contains("healthcheck"))
                let done = try text("done")
                for command in [
                    "apt-get install", "useradd --system", "systemctl enable --now siwa", "siwa doctor",
                    "nginx -t",
                    "systemctl reload nginx", "caddy validate", "systemctl reload caddy", "siwa reseal",
                    "promtool check config", "systemctl restart prometheus",
                ] { #expect(done.contains(command), "\(command): \(done)") }
                #expect(await service.stop() == 0)
            }
        }

        private static func blocks(of page: String) throws -> [String] {
            try String(contentsOf: root.appending(path: "docs/\(page)"), encoding: .utf8)
                .matches(of: #/(?ms)^ *```sh\n(.*?)^ *```/#).map { String($0.1) }
        }

        /// The files that the page copies to the server, the folders of a bare system, and the stubs.
        private static func makeBareTree(in directory: TemporaryDirectory) async throws {
            try directory.write("key", to: "AuthKey_ABC123DEFG.p8")
            let folders = [
                "docs", "stubs", "etc/systemd/system", "etc/nginx/conf.d", "etc/caddy", "etc/prometheus",
                "usr/local/bin",
                "usr/share/bash-completion/completions", "var/lib/siwa",
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
#endif
