import Foundation
import SiwaBinary
import TestSupport
import Testing

#if os(Linux)
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
