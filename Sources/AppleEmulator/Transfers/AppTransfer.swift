/// The transfer of an app from one team to another.
public struct AppTransfer: Sendable, Equatable, Codable {
    /// How long users can be migrated, in milliseconds: 60 days.
    public static let openFor: Int64 = 60 * 86_400_000

    /// The app's primary client ID.
    public let app: String
    public let sender: String
    public let recipient: String
    /// When the recipient accepted, in milliseconds since 1970.
    public let acceptedAt: Int64

    func isOpen(at now: Int64) -> Bool { now - acceptedAt <= Self.openFor }
}
