/// One member of a section of the configuration file: its name, the form of its value, its bounds and its
/// default. The reader of the file, "did you mean", and the tests of the page on the configuration follow
/// from these values. Rules about a value, or about two members, are in the checks of the drafts.
public struct DraftMember<Draft: Sendable>: Sendable {
    public enum Content: Sendable {
        case value(DraftValue<Draft>)
        /// A section of its own.
        case section(any DraftPart<Draft>)
        /// A list of sections.
        ///
        /// - Parameter each: The noun of one of them, for errors.
        case sections(any DraftPart<Draft>, each: String)
    }

    public let name: String
    public let content: Content

    public init(_ name: String, _ value: DraftValue<Draft>) {
        self.init(name, content: .value(value))
    }

    public init(_ name: String, section: any DraftPart<Draft>) {
        self.init(name, content: .section(section))
    }

    public init(_ name: String, sections: any DraftPart<Draft>, each: String) {
        self.init(name, content: .sections(sections, each: each))
    }

    private init(_ name: String, content: Content) {
        (self.name, self.content) = (name, content)
    }

    /// The form of the value. For a section it is a programmer's error and stops the process.
    var value: DraftValue<Draft> {
        guard case .value(let value) = content else { preconditionFailure("\(name) is a section") }
        return value
    }
}
