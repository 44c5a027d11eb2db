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
                try Self.write(unit, to: "siwa.service", in: directory)
                let verdict = try await OperatorTool.run(
                    "systemd-analyze", ["verify", "--man=no", "\(directory.path)/siwa.service"], in: directory
                )
                #expect(verdict.status == 0, "\(verdict.output)")
                #expect(verdict.output.isEmpty)
            }
        }

        /// systemd's own score, from 0 (safe) to 10 (unsafe). Services with the rights of a user have 9.
        @Test func `systemd finds little that the unit exposes`() async throws {
            try await TemporaryDirectory.with { directory in
                try Self.write(try Self.text("siwa.service"), to: "siwa.service", in: directory)
                let verdict = try await OperatorTool.run(
                    "systemd-analyze",
                    [
                        "security", "--offline=yes", "--threshold=20", "--no-pager",
                        "\(directory.path)/siwa.service",
                    ], in: directory)
                #expect(verdict.status == 0, "\(verdict.output)")
            }
        }

        @Test func `nginx takes its configuration`() async throws {
            try await TemporaryDirectory.with { directory in
                let certificate = try await OperatorTool.run(
                    "openssl",
                    [
                        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", "privkey.pem", "-out", "fullchain.pem", "-subj", "/CN=signin.example.com",
                    ], in: directory)
                #expect(certificate.status == 0, "\(certificate.output)")
                let site = try Self.text("nginx.conf")
                    .replacing("/etc/letsencrypt/live/signin.example.com", with: directory.path)
                try Self.write(site, to: "siwa.conf", in: directory)
                // What a package's nginx.conf has around it, with folders that every user may write.
                let folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                    .map { "\($0)_temp_path \(directory.path)/\($0);" }
                try Self.write(
                    """
                    error_log stderr; pid \(directory.path)/pid; events {}
                    http { access_log off; \(folders.joined(separator: " ")) include \(directory.path)/siwa.conf; }
                    """, to: "nginx.conf", in: directory)
                let verdict = try await OperatorTool.run(
                    "nginx",
                    ["-t", "-e", "stderr", "-p", directory.path, "-c", "\(directory.path)/nginx.conf"],
                    in: directory)
                #expect(verdict.status == 0, "\(verdict.output)")
                #expect(!verdict.output.contains("[warn]"), "\(verdict.output)")
            }
        }

        @Test func `Caddy takes its configuration`() async throws {
            try await TemporaryDirectory.with { directory in
                try Self.write(try Self.text("Caddyfile"), to: "Caddyfile", in: directory)
                let verdict = try await OperatorTool.run(
                    "caddy",
                    ["validate", "--adapter", "caddyfile", "--config", "\(directory.path)/Caddyfile"],
                    ["XDG_CONFIG_HOME": directory.path, "XDG_DATA_HOME": directory.path], in: directory)
                #expect(verdict.status == 0, "\(verdict.output)")
                #expect(verdict.output.contains("Valid configuration"))
            }
        }

        private static func text(_ name: String) throws -> String {
            let file = OperatorTool.root.appendingPathComponent("docs/deploy/\(name)")
            return try String(contentsOf: file, encoding: .utf8)
        }

        private static func write(_ text: String, to name: String, in directory: TemporaryDirectory) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory.path)/\(name)"))
        }
    }
#endif
