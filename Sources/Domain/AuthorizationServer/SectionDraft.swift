/// A section or list entry as written in the configuration file, unchecked.
public protocol SectionDraft: Sendable {
    /// The draft of an empty section.
    static var empty: Self { get }

    /// All members that the section may have.
    static var members: [DraftMember<Self>] { get }
}

/// A member of a configuration file section: its name, its value type, its bounds and its default. The
/// configuration file reader, its "did you mean" suggestions, and the tests of the documentation's
/// configuration page use these members. Rules about a particular value, or about two members together, are
/// in the draft checks.
public struct DraftMember<Draft: Sendable>: Sendable {
    public enum Content: Sendable {
        case value(DraftValue<Draft>)
        /// A nested section.
        case section(any DraftPart<Draft>)
        /// A list of sections.
        ///
        /// - Parameter each: The noun for an entry, for error messages.
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

    /// The value type. Sections have no value type: reading it for a section is a programming error and stops
    /// the process.
    var value: DraftValue<Draft> {
        guard case .value(let value) = content else { preconditionFailure("\(name) is a section") }
        return value
    }
}

/// The type of a member's value, and the property of the draft that holds it.
public enum DraftValue<Draft: Sendable>: Sendable {
    public typealias Path<Value> = any WritableKeyPath<Draft, Value> & Sendable

    case text(Path<String>)
    case optionalText(Path<String?>)
    /// A word from a fixed list.
    case word(Path<String>)
    case optionalWord(Path<String?>, default: String?)
    /// Texts by language.
    case texts(Path<[String: String]>)
    /// A list. An empty list counts as absent.
    case list(Path<[String]>, default: [String])
    case optionalList(Path<[String]?>)
    case flag(Path<Bool?>, default: Bool)
    case number(Path<Int64?>, ClosedRange<Int64>, DraftUnit, default: Int64)
    /// A duration. If the file has no value, the duration is unlimited or another rule sets it.
    case optionalSeconds(Path<Int64?>, ClosedRange<Int64>)
}

extension DraftValue {
    /// Returns true if the draft has a value for the member.
    func isSet(in draft: Draft) -> Bool {
        switch self {
        case .text(let path), .word(let path): !draft[keyPath: path].isEmpty
        case .optionalText(let path), .optionalWord(let path, _): draft[keyPath: path] != nil
        case .texts(let path): !draft[keyPath: path].isEmpty
        case .list(let path, _): !draft[keyPath: path].isEmpty
        case .optionalList(let path): draft[keyPath: path] != nil
        case .flag(let path, _): draft[keyPath: path] != nil
        case .number(let path, _, _, _), .optionalSeconds(let path, _): draft[keyPath: path] != nil
        }
    }

    /// Returns the flag or its default. Calling this function for another value type is a programming error
    /// and stops the process.
    func flag(in draft: Draft) -> Bool {
        guard case .flag(let path, let standard) = self else { preconditionFailure("is no flag") }
        return draft[keyPath: path] ?? standard
    }

    /// Returns the list or its default. Calling this function for another value type is a programming error
    /// and stops the process.
    func list(in draft: Draft) -> [String] {
        guard case .list(let path, let standard) = self else { preconditionFailure("is no list") }
        return draft[keyPath: path].isEmpty ? standard : draft[keyPath: path]
    }

    /// Returns the word or its default. Calling this function for another value type is a programming error
    /// and stops the process.
    func word(in draft: Draft) -> String? {
        guard case .optionalWord(let path, let standard) = self else { preconditionFailure("is no word") }
        return draft[keyPath: path] ?? standard
    }
}

/// The unit of a configured number, for error messages.
public enum DraftUnit: String, Sendable, Hashable {
    case seconds
    case refreshTokens = "refresh tokens"
}

/// The place of a draft within another draft.
public protocol DraftPart<Whole>: Sendable {
    associatedtype Whole: Sendable
    associatedtype Part: SectionDraft

    func add(_ part: Part, to whole: inout Whole)
}

/// The position of a section that occurs once in its parent.
public struct DraftSection<Whole: Sendable, Part: SectionDraft>: DraftPart {
    let path: any WritableKeyPath<Whole, Part> & Sendable

    public init(_ path: any WritableKeyPath<Whole, Part> & Sendable) {
        self.path = path
    }

    public func add(_ part: Part, to whole: inout Whole) { whole[keyPath: path] = part }
}

/// The position of a section list.
public struct DraftList<Whole: Sendable, Part: SectionDraft>: DraftPart {
    let path: any WritableKeyPath<Whole, [Part]> & Sendable

    public init(_ path: any WritableKeyPath<Whole, [Part]> & Sendable) {
        self.path = path
    }

    public func add(_ part: Part, to whole: inout Whole) { whole[keyPath: path].append(part) }
}
