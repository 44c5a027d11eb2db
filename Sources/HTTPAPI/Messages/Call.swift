import AppleAccounts

/// One request, read completely and allowed in: what a route sees.
struct Call: Sendable {
    let requestID: String
    /// The decoded last segment of the path, in routes that have one.
    let parameter: String?
    let query: Substring?
    let body: [UInt8]
    let ifNoneMatch: String?
    /// The whole field, as the browser sent it.
    let cookie: String?
    /// The apps that the caller may see.
    let scope: AppScope
}
