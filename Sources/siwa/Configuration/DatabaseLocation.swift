import PostgresStorage

/// The location of the database, from `DATABASE_URL`.
enum DatabaseLocation: Equatable {
    case sqlite(path: String)
    case postgres(PostgresAddress)

    enum Refusal: Error, Equatable {
        case unknownScheme, noPath, hasParameters
        case postgres(PostgresAddress.Refusal)
    }

    /// Accepts `sqlite:///absolute/path`, `sqlite://relative/path`, and PostgreSQL URLs of libpq.
    init(url: String) throws(Refusal) {
        guard let colon = url.firstRange(of: "://") else { throw .unknownScheme }
        let rest = url[colon.upperBound...]
        switch url[..<colon.lowerBound] {
        case "sqlite":
            guard !rest.isEmpty, rest != "/" else { throw .noPath }
            guard !rest.contains("?"), !rest.contains("#") else { throw .hasParameters }
            self = .sqlite(path: String(rest))
        case "postgres", "postgresql":
            do throws(PostgresAddress.Refusal) { self = .postgres(try PostgresAddress(url)) } catch {
                throw .postgres(error)
            }
        default: throw .unknownScheme
        }
    }

    /// The location for messages, without secrets.
    var place: String {
        switch self {
        case .sqlite(let path): path
        case .postgres(let address): address.place
        }
    }
}
