import Foundation

/// The certificate authority of a cluster, and its certificate for "localhost".
struct ServerCertificates {
    let directory: String

    /// The path of the authority's certificate, for `sslrootcert`.
    var authority: String { "\(directory)/ca.crt" }
    var certificate: String { "\(directory)/server.crt" }
    var key: String { "\(directory)/server.key" }

    static func make(in directory: String) async throws -> ServerCertificates {
        let made = ServerCertificates(directory: directory)
        let openSSL = "/usr/bin/openssl"
        let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        try await Command(
            path: openSSL,
            arguments: ["req", "-x509"] + newKey + [
                "-keyout", "\(directory)/ca.key", "-out", made.authority, "-days", "30", "-subj",
                "/CN=siwa tests",
            ]
        ).run()
        try await Command(
            path: openSSL,
            arguments: ["req"] + newKey + [
                "-keyout", made.key, "-out", "\(directory)/server.csr", "-subj", "/CN=localhost",
            ]
        ).run()
        try await Command(
            path: openSSL,
            arguments: [
                "x509", "-req", "-in", "\(directory)/server.csr", "-CA", made.authority, "-CAkey",
                "\(directory)/ca.key", "-CAcreateserial", "-out", made.certificate, "-days", "30",
            ]
        ).run()
        return made
    }
}
