/// Where the data is, from a `DATABASE_URL`.
enum DatabaseLocation: Equatable {
    case sqlite(path: String)

    enum Refusal: Error, Equatable { case postgresUnsupported, unknownScheme, noPath, hasParameters }

    /// `sqlite:///absolute/path` or `sqlite://relative/path`.
    init(url: String) throws(Refusal) {
        guard let colon = url.firstRange(of: "://") else { throw .unknownScheme }
        let rest = url[colon.upperBound...]
        switch url[..<colon.lowerBound] {
        case "sqlite":
            guard !rest.isEmpty, rest != "/" else { throw .noPath }
            guard !rest.contains("?"), !rest.contains("#") else { throw .hasParameters }
            self = .sqlite(path: String(rest))
        case "postgres", "postgresql": throw .postgresUnsupported
        default: throw .unknownScheme
        }
    }
}
