import Cryptography
import Encodings
import Foundation

/// The private file with the tokens of one issuer and client.
///
/// The file is in a directory of its own with mode 0700. A call locks the directory, because two calls must
/// not use the same refresh token: the server rotates it.
package struct TokenFile: Sendable {
    private static let longest = 64 * 1024

    let directory: String
    var path: String { "\(directory)/tokens.json" }

    init(directory: String) { self.directory = directory }

    /// Places the file under `XDG_STATE_HOME`, by default `~/.local/state` (XDG Base Directory
    /// Specification). Throws `.fileUnusable` without a home directory.
    package init(
        environment: [String: String], issuer: IssuerURL, clientID: String
    ) throws(LoginError) {
        let state: String
        if let given = environment["XDG_STATE_HOME"], given.hasPrefix("/") {
            state = given
        } else if let home = environment["HOME"], home.hasPrefix("/") {
            state = "\(home)/.local/state"
        } else {
            throw LoginError(.fileUnusable, "HOME is not set; set it, or XDG_STATE_HOME, to an absolute path")
        }
        // The digest distinguishes all issuers and clients; the host is for human readers.
        let digest = SHA256Digest.hash("\(issuer.text)\n\(clientID)")
        let host = issuer.host.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") ? $0 : "_" }
        directory = "\(state)/siwa/login/\(String(host))-\(Hexadecimal.encode(digest.prefix(8)))"
    }

    /// Runs `body` while no other call uses these tokens. Throws `.fileUnusable` when another call uses them.
    func locked<Result>(
        _ body: () async throws(LoginError) -> Result
    ) async throws(LoginError) -> Result {
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw LoginError(.fileUnusable, "\(directory) cannot be made; check the permissions above it")
        }
        let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw LoginError(.fileUnusable, "\(directory) cannot be opened; check its permissions")
        }
        // Closing also unlocks.
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw LoginError(
                .fileUnusable, "another siwa login works with \(directory); wait until it has ended")
        }
        return try await body()
    }

    /// Returns `nil` when there is no file. Throws `.fileUnusable` for a file that others could have read or
    /// written.
    func read() throws(LoginError) -> KeptTokens? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw LoginError(.fileUnusable, "\(path) cannot be read; remove it to sign in anew")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        // The path was no link when it was opened, and only the owner of the directory can replace it.
        let attributes = (try? FileManager.default.attributesOfItem(atPath: path)) ?? [:]
        guard attributes[.type] as? FileAttributeType == .typeRegular,
            attributes[.ownerAccountID] as? Int == Int(geteuid()),
            let mode = attributes[.posixPermissions] as? Int, mode & 0o077 == 0
        else {
            throw LoginError(
                .fileUnusable,
                "\(path) must be a file that only its owner can read; remove it and sign in anew")
        }
        let content = try? handle.read(upToCount: Self.longest + 1)
        guard let content, content.count <= Self.longest, let tokens = KeptTokens(parsing: Array(content))
        else {
            throw LoginError(.fileUnusable, "\(path) is damaged; remove it and sign in anew")
        }
        return tokens
    }

    /// Replaces the file. The new content is complete and on disk when this returns, because a rotation ends
    /// the old refresh token.
    func write(_ tokens: KeptTokens) throws(LoginError) {
        let new = "\(path).new"
        unlink(new)
        do {
            try PrivateFile.make(at: new, content: Data(tokens.json))
        } catch {
            throw LoginError(.fileUnusable, "\(new) cannot be written; free disk space, or check permissions")
        }
        guard rename(new, path) == 0 else {
            throw LoginError(.fileUnusable, "\(path) cannot be replaced; check its permissions")
        }
        let folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }

    /// Removes the file, and the directory if nothing else is in it.
    func remove() throws(LoginError) {
        guard unlink(path) == 0 || errno == ENOENT else {
            throw LoginError(.fileUnusable, "\(path) cannot be removed; remove it yourself")
        }
        rmdir(directory)
    }
}
