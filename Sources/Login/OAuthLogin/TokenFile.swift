import Cryptography
import Encodings
import Foundation
import StrictJSON

/// The private token file for one issuer and client.
///
/// The file has its own directory with mode 0700. Each call locks the directory, because the server rotates
/// the refresh token and two calls must not use the same token.
package struct TokenFile: Sendable {
    private static let longest = 64 * 1024

    let directory: String
    var path: String { "\(directory)/tokens.json" }

    init(directory: String) { self.directory = directory }

    /// Places the file under `XDG_STATE_HOME`, by default `~/.local/state` (XDG Base Directory
    /// Specification). Throws `.fileUnusable` if there is no home directory.
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
        // The digest distinguishes all issuers and clients, while the host makes the file name readable.
        let digest = SHA256Digest.hash("\(issuer.text)\n\(clientID)")
        let host = issuer.host.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ".") ? $0 : "_" }
        directory = "\(state)/siwa/login/\(String(host))-\(Hexadecimal.encode(digest.prefix(8)))"
    }

    /// Runs `body` while no other process uses these tokens. Throws `.fileUnusable` if another process uses
    /// them.
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
        // Closing the descriptor also unlocks the directory.
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw LoginError(
                .fileUnusable, "another siwa login works with \(directory); wait until it has ended")
        }
        return try await body()
    }

    /// Reads the tokens; returns `nil` if there is no file. Throws `.fileUnusable` for a file that other
    /// users could have read or written.
    func read() throws(LoginError) -> KeptTokens? {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw LoginError(.fileUnusable, "\(path) cannot be read; remove it to sign in anew")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        // Reading by path is safe: the opened path was not a link, and only the directory's owner can
        // replace the file.
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

    /// Replaces the file. When the call returns, the new content is complete and on disk, because rotation
    /// invalidates the old refresh token.
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

    /// Removes the file, and its directory if it is then empty.
    func remove() throws(LoginError) {
        guard unlink(path) == 0 || errno == ENOENT else {
            throw LoginError(.fileUnusable, "\(path) cannot be removed; remove it yourself")
        }
        rmdir(directory)
    }
}

/// Sign-in values that `siwa login` stores between calls.
struct KeptTokens: Sendable, Equatable {
    let issuer: String
    let clientID: String
    /// Requested scope, so that a call with a different `--scope` signs in again; `nil` if `--scope` is not
    /// given.
    let requestedScope: String?
    /// Granted scope; `nil` if the response has none.
    let scope: String?
    let accessToken: String
    /// Expiry in seconds since 1970; `nil` if the response has none.
    let expiresAt: Int64?
    let refreshToken: String?
    /// The ID token's `sub`; `nil` if the response had no ID token.
    let subject: String?

    /// - Parameters:
    ///   - old: The tokens before a refresh. They supply any values that the response omits because they have
    ///     not changed.
    ///   - now: Seconds since 1970.
    init(
        _ response: TokenResponse, issuer: String, clientID: String, requestedScope: String?,
        subject: String?,
        replacing old: KeptTokens? = nil, at now: Int64
    ) {
        (self.issuer, self.clientID, self.requestedScope) = (issuer, clientID, requestedScope)
        scope = response.scope ?? old?.scope ?? requestedScope
        accessToken = response.accessToken
        expiresAt = response.lifetime.map { now + $0 }
        refreshToken = response.refreshToken ?? old?.refreshToken
        self.subject = subject ?? old?.subject
    }

    /// Parses the file content. Returns `nil` for any content that `json` does not write.
    init?(parsing bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes), let issuer = json["issuer"]?.string,
            let clientID = json["client_id"]?.string, let accessToken = json["access_token"]?.string
        else { return nil }
        (self.issuer, self.clientID, self.accessToken) = (issuer, clientID, accessToken)
        requestedScope = json["requested_scope"]?.string
        scope = json["scope"]?.string
        expiresAt = json["expires_at"]?.integer
        refreshToken = json["refresh_token"]?.string
        subject = json["sub"]?.string
    }

    /// The file content, which programs that use the tokens read.
    var json: [UInt8] {
        var json = JSONObject([("issuer", .string(issuer)), ("client_id", .string(clientID))])
        json["sub"] = subject.map { .string($0) }
        json["requested_scope"] = requestedScope.map { .string($0) }
        json["scope"] = scope.map { .string($0) }
        json["token_type"] = .string("Bearer")
        json["access_token"] = .string(accessToken)
        json["expires_at"] = expiresAt.map { .integer($0) }
        json["refresh_token"] = refreshToken.map { .string($0) }
        return JSONValue.object(json).serialized() + [UInt8(ascii: "\n")]
    }
}

extension KeptTokens: CustomStringConvertible, CustomReflectable {
    var description: String { "tokens of \(clientID)" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
