/// A section of the configuration file, or an entry of a list there, as it was written and before any check.
public protocol SectionDraft: Sendable {
    /// The draft of a section without members.
    static var empty: Self { get }

    /// Every member that the section can have.
    static var members: [DraftMember<Self>] { get }
}
