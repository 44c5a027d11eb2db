/// The form of a member's value, and where it stands in a draft.
public enum DraftValue<Draft: Sendable>: Sendable {
    public typealias Path<Value> = any WritableKeyPath<Draft, Value> & Sendable

    case text(Path<String>)
    case optionalText(Path<String?>)
    /// One of a few words.
    case word(Path<String>)
    case optionalWord(Path<String?>, default: String?)
    /// Texts by language.
    case texts(Path<[String: String]>)
    /// An empty list is as good as none.
    case list(Path<[String]>, default: [String])
    case optionalList(Path<[String]?>)
    case flag(Path<Bool?>, default: Bool)
    case number(Path<Int64?>, ClosedRange<Int64>, DraftUnit, default: Int64)
    /// A duration that is not bounded where the file does not have it, or that another rule then decides on.
    case optionalSeconds(Path<Int64?>, ClosedRange<Int64>)
}

extension DraftValue {
    /// Returns `true` if the draft has a value.
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

    /// The flag, or its default. For another form it is a programmer's error and stops the process.
    func flag(in draft: Draft) -> Bool {
        guard case .flag(let path, let standard) = self else { preconditionFailure("is no flag") }
        return draft[keyPath: path] ?? standard
    }

    /// The list, or its default. For another form it is a programmer's error and stops the process.
    func list(in draft: Draft) -> [String] {
        guard case .list(let path, let standard) = self else { preconditionFailure("is no list") }
        return draft[keyPath: path].isEmpty ? standard : draft[keyPath: path]
    }

    /// The word, or its default. For another form it is a programmer's error and stops the process.
    func word(in draft: Draft) -> String? {
        guard case .optionalWord(let path, let standard) = self else { preconditionFailure("is no word") }
        return draft[keyPath: path] ?? standard
    }
}
