import PageTemplates

/// The templates of the console, by the names of their files.
enum Templates {
    static let files: [String: [UInt8]] = [
        "authorize-link": PackageResources.authorize_link_mustache,
        "client": PackageResources.client_mustache,
        "clients": PackageResources.clients_mustache,
        "codes": PackageResources.codes_mustache,
        "deliveries": PackageResources.deliveries_mustache,
        "erase": PackageResources.erase_mustache,
        "events": PackageResources.events_mustache,
        "events-apple": PackageResources.events_apple_mustache,
        "events-google": PackageResources.events_google_mustache,
        "events-tabs": PackageResources.events_tabs_mustache,
        "overview": PackageResources.overview_mustache,
        "people": PackageResources.people_mustache,
        "person": PackageResources.person_mustache,
        "plot": PackageResources.plot_mustache,
        "request": PackageResources.request_mustache,
        "requests": PackageResources.requests_mustache,
        "settings": PackageResources.settings_mustache,
        "tokens": PackageResources.tokens_mustache,
        "troubles": PackageResources.troubles_mustache,
    ]

    /// - Parameter others: Templates of pages of other modules. A name of this module cannot be replaced.
    static func library(with others: [String: [UInt8]] = [:]) throws -> TemplateLibrary {
        try TemplateLibrary(others.merging(files) { _, own in own })
    }
}
