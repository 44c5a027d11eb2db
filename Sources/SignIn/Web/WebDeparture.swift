/// The beginning of a visit.
public struct WebDeparture: Sendable {
    /// Apple's page, with everything that it must know.
    public let location: String
    public let browser: BrowserSecret
}
