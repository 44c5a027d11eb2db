import PageTemplates

/// The templates of the console, by the names of their files.
enum Templates {
    static let files: [String: [UInt8]] = [
        "audit": PackageResources.audit_mustache,
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
        "frame": PackageResources.frame_mustache,
        "message": PackageResources.message_mustache,
        "overview": PackageResources.overview_mustache,
        "people": PackageResources.people_mustache,
        "person": PackageResources.person_mustache,
        "plot": PackageResources.plot_mustache,
        "request": PackageResources.request_mustache,
        "requests": PackageResources.requests_mustache,
        "settings": PackageResources.settings_mustache,
        "sign-in": PackageResources.sign_in_mustache,
        "start": PackageResources.start_mustache,
        "tokens": PackageResources.tokens_mustache,
        "troubles": PackageResources.troubles_mustache,
        "world-exchange": PackageResources.world_exchange_mustache,
        "world-exchanges": PackageResources.world_exchanges_mustache,
        "world-faults": PackageResources.world_faults_mustache,
        "world-google": PackageResources.world_google_mustache,
        "world-keys": PackageResources.world_keys_mustache,
        "world-notifications": PackageResources.world_notifications_mustache,
        "world-people": PackageResources.world_people_mustache,
        "world-person": PackageResources.world_person_mustache,
        "world-sequence": PackageResources.world_sequence_mustache,
        "world-tabs": PackageResources.world_tabs_mustache,
    ]

    static func library() throws -> TemplateLibrary { try TemplateLibrary(files) }
}
