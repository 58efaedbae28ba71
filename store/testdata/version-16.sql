-- A database of version 16, written by TestMigrations -update while that was the newest. It does not change any more.

CREATE TABLE account_backups ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , file TEXT NOT NULL UNIQUE , state TEXT NOT NULL DEFAULT 'pending' CHECK ( state IN ( 'pending' , 'complete' , 'failed' ) ) , size INTEGER NOT NULL DEFAULT 0 , attempts INTEGER NOT NULL DEFAULT 0 , last_error TEXT NOT NULL DEFAULT '' ) STRICT;
CREATE INDEX account_backups_account ON account_backups ( account_id , id );
CREATE TABLE account_notes ( account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , target_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , comment TEXT NOT NULL , PRIMARY KEY ( account_id , target_id ) ) STRICT , WITHOUT ROWID;
CREATE INDEX account_notes_target ON account_notes ( target_id );
CREATE TABLE account_tags ( account_id INTEGER NOT NULL REFERENCES users ( account_id ) ON DELETE CASCADE , tag_id INTEGER NOT NULL REFERENCES tags ( id ) , statuses_count INTEGER NOT NULL , last_status_id INTEGER NOT NULL , PRIMARY KEY ( account_id , tag_id ) ) STRICT , WITHOUT ROWID;
CREATE INDEX account_tags_count ON account_tags ( account_id , statuses_count , last_status_id );
CREATE INDEX account_tags_tag ON account_tags ( tag_id );
CREATE TABLE accounts ( id INTEGER PRIMARY KEY , nickname TEXT NOT NULL , nickname_key TEXT NOT NULL , domain TEXT NOT NULL DEFAULT '' , uri TEXT NOT NULL UNIQUE , url TEXT NOT NULL , actor_type TEXT NOT NULL DEFAULT 'Person' , display_name TEXT NOT NULL DEFAULT '' , note TEXT NOT NULL DEFAULT '' , fields TEXT NOT NULL DEFAULT '[]' , avatar TEXT NOT NULL DEFAULT '' , avatar_static TEXT NOT NULL DEFAULT '' , header TEXT NOT NULL DEFAULT '' , header_static TEXT NOT NULL DEFAULT '' , background TEXT NOT NULL DEFAULT '' , locked INTEGER NOT NULL DEFAULT 0 CHECK ( locked IN ( 0 , 1 ) ) , discoverable INTEGER NOT NULL DEFAULT 0 CHECK ( discoverable IN ( 0 , 1 ) ) , indexable INTEGER CHECK ( indexable IN ( 0 , 1 ) ) , hide_favorites INTEGER NOT NULL DEFAULT 1 CHECK ( hide_favorites IN ( 0 , 1 ) ) , hide_followers INTEGER NOT NULL DEFAULT 0 CHECK ( hide_followers IN ( 0 , 1 ) ) , hide_follows INTEGER NOT NULL DEFAULT 0 CHECK ( hide_follows IN ( 0 , 1 ) ) , hide_followers_count INTEGER NOT NULL DEFAULT 0 CHECK ( hide_followers_count IN ( 0 , 1 ) ) , hide_follows_count INTEGER NOT NULL DEFAULT 0 CHECK ( hide_follows_count IN ( 0 , 1 ) ) , accepts_chat_messages INTEGER CHECK ( accepts_chat_messages IN ( 0 , 1 ) ) , birthday TEXT NOT NULL DEFAULT '' , show_birthday INTEGER NOT NULL DEFAULT 0 CHECK ( show_birthday IN ( 0 , 1 ) ) , also_known_as TEXT NOT NULL DEFAULT '[]' , moved_to_id INTEGER REFERENCES accounts ( id ) ON DELETE SET NULL , tags TEXT NOT NULL DEFAULT '[]' , emojis TEXT NOT NULL DEFAULT '[]' , followers_count INTEGER NOT NULL DEFAULT 0 , following_count INTEGER NOT NULL DEFAULT 0 , statuses_count INTEGER NOT NULL DEFAULT 0 , last_status_at INTEGER , created_at INTEGER NOT NULL , unavailable INTEGER NOT NULL DEFAULT 0 CHECK ( unavailable IN ( 0 , 1 ) ) , deleted_at INTEGER , suspended_at INTEGER , rejected INTEGER NOT NULL DEFAULT 0 CHECK ( rejected IN ( 0 , 1 ) ) , max_visibility INTEGER NOT NULL DEFAULT 0 CHECK ( max_visibility = 0 OR max_visibility = 1 OR max_visibility = 3 ) , limiting INTEGER NOT NULL DEFAULT 0 CHECK ( limiting IN ( 0 , 1 ) ) , suggested INTEGER NOT NULL DEFAULT 0 CHECK ( suggested IN ( 0 , 1 ) ) , feature_policy INTEGER NOT NULL DEFAULT 0 CHECK ( feature_policy BETWEEN 0 AND 3 ) , attribution_domains TEXT NOT NULL DEFAULT '[]' , avatar_description TEXT NOT NULL DEFAULT '' , header_description TEXT NOT NULL DEFAULT '' , hide_media INTEGER NOT NULL DEFAULT 0 CHECK ( hide_media IN ( 0 , 1 ) ) , hide_media_replies INTEGER NOT NULL DEFAULT 0 CHECK ( hide_media_replies IN ( 0 , 1 ) ) , hide_featured INTEGER NOT NULL DEFAULT 0 CHECK ( hide_featured IN ( 0 , 1 ) ) , feature_approval INTEGER NOT NULL DEFAULT 0 , UNIQUE ( nickname_key , domain ) ) STRICT;
CREATE INDEX accounts_directory_active ON accounts ( last_status_at , id ) WHERE discoverable = 1 AND unavailable = 0 AND moved_to_id IS NULL;
CREATE INDEX accounts_directory_local_active ON accounts ( last_status_at , id ) WHERE discoverable = 1 AND unavailable = 0 AND moved_to_id IS NULL AND domain = '';
CREATE INDEX accounts_directory_local_new ON accounts ( id ) WHERE discoverable = 1 AND unavailable = 0 AND moved_to_id IS NULL AND domain = '';
CREATE INDEX accounts_directory_new ON accounts ( id ) WHERE discoverable = 1 AND unavailable = 0 AND moved_to_id IS NULL;
CREATE INDEX accounts_domain ON accounts ( domain , id );
CREATE INDEX accounts_groups ON accounts ( id ) WHERE actor_type = 'Group' AND domain <> '';
CREATE INDEX accounts_limited ON accounts ( id ) WHERE max_visibility > 0 OR limiting = 1;
CREATE INDEX accounts_moved ON accounts ( moved_to_id ) WHERE moved_to_id IS NOT NULL;
CREATE INDEX accounts_rejected ON accounts ( id ) WHERE rejected = 1;
CREATE INDEX accounts_staff ON accounts ( id , domain , nickname_key , display_name , actor_type , tags , unavailable , deleted_at );
CREATE INDEX accounts_suggested ON accounts ( id ) WHERE suggested = 1;
CREATE INDEX accounts_unavailable ON accounts ( id ) WHERE unavailable = 1;
CREATE INDEX accounts_unavailable_deleted ON accounts ( deleted_at ) WHERE unavailable = 1;
CREATE INDEX accounts_unindexable ON accounts ( id ) WHERE indexable = 0;
CREATE INDEX accounts_url ON accounts ( url );
CREATE VIRTUAL TABLE accounts_fts USING fts5 ( nickname , display_name , content = '' , contentless_delete = 1 , prefix = '1 2 3' , tokenize = 'ascii' );
CREATE TABLE active_weeks ( week INTEGER PRIMARY KEY , users INTEGER NOT NULL ) STRICT;
CREATE TABLE activities ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , status_id INTEGER , body TEXT NOT NULL ) STRICT;
CREATE INDEX activities_account ON activities ( account_id );
CREATE TABLE actor_keys ( uri TEXT PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , public TEXT NOT NULL , private BLOB , created_at INTEGER NOT NULL , announced INTEGER NOT NULL DEFAULT 1 CHECK ( announced IN ( 0 , 1 ) ) , retired_at INTEGER ) STRICT;
CREATE INDEX actor_keys_account ON actor_keys ( account_id );
CREATE TABLE actors ( account_id INTEGER PRIMARY KEY REFERENCES accounts ( id ) ON DELETE CASCADE , inbox TEXT NOT NULL , shared_inbox TEXT NOT NULL DEFAULT '' , outbox TEXT NOT NULL DEFAULT '' , followers TEXT NOT NULL DEFAULT '' , following TEXT NOT NULL DEFAULT '' , featured TEXT NOT NULL DEFAULT '' , fetched_at INTEGER NOT NULL , attempted_at INTEGER NOT NULL , failures INTEGER NOT NULL DEFAULT 0 , moved_at INTEGER , moved_to TEXT NOT NULL DEFAULT '' , suspended INTEGER NOT NULL DEFAULT 0 CHECK ( suspended IN ( 0 , 1 ) ) , handle_verified_at INTEGER NOT NULL DEFAULT 0 , collections_fetched_at INTEGER NOT NULL DEFAULT 0 ) STRICT;
CREATE INDEX actors_inbox ON actors ( inbox );
CREATE INDEX actors_shared ON actors ( shared_inbox );
CREATE TABLE announcement_reactions ( id INTEGER PRIMARY KEY , announcement_id INTEGER NOT NULL REFERENCES announcements ( id ) ON DELETE CASCADE , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , emoji TEXT NOT NULL , UNIQUE ( announcement_id , emoji , account_id ) ) STRICT;
CREATE INDEX announcement_reactions_account ON announcement_reactions ( account_id );
CREATE TABLE announcement_reads ( announcement_id INTEGER NOT NULL REFERENCES announcements ( id ) ON DELETE CASCADE , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , PRIMARY KEY ( announcement_id , account_id ) ) STRICT , WITHOUT ROWID;
CREATE INDEX announcement_reads_account ON announcement_reads ( account_id );
CREATE TABLE announcements ( id INTEGER PRIMARY KEY , text TEXT NOT NULL , content TEXT NOT NULL , starts_at INTEGER , ends_at INTEGER , all_day INTEGER NOT NULL DEFAULT 0 CHECK ( all_day IN ( 0 , 1 ) ) , updated_at INTEGER NOT NULL ) STRICT;
CREATE TABLE archive_skips ( id INTEGER PRIMARY KEY , archive_id INTEGER NOT NULL REFERENCES archives ( id ) ON DELETE CASCADE , item TEXT NOT NULL , reason TEXT NOT NULL ) STRICT;
CREATE INDEX archive_skips_archive ON archive_skips ( archive_id , id );
CREATE TABLE archives ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , file TEXT NOT NULL , uploaded INTEGER NOT NULL CHECK ( uploaded IN ( 0 , 1 ) ) , by_staff INTEGER NOT NULL CHECK ( by_staff IN ( 0 , 1 ) ) , public INTEGER NOT NULL CHECK ( public IN ( 0 , 1 ) ) , origin TEXT NOT NULL DEFAULT '' , actor_uri TEXT NOT NULL DEFAULT '' , state TEXT NOT NULL CHECK ( state IN ( 'uploading' , 'queued' , 'complete' , 'failed' , 'undoing' , 'undone' ) ) , size INTEGER NOT NULL DEFAULT 0 , received INTEGER NOT NULL DEFAULT 0 , total INTEGER NOT NULL DEFAULT 0 , position INTEGER NOT NULL DEFAULT 0 , imported INTEGER NOT NULL DEFAULT 0 , files INTEGER NOT NULL DEFAULT 0 , skipped INTEGER NOT NULL DEFAULT 0 , error TEXT NOT NULL DEFAULT '' , finished_at INTEGER , emoji INTEGER NOT NULL DEFAULT 0 CHECK ( emoji IN ( 0 , 1 ) ) ) STRICT;
CREATE INDEX archives_account ON archives ( account_id , id );
CREATE INDEX archives_uploading ON archives ( id ) WHERE state = 'uploading';
CREATE TABLE backup_codes ( account_id INTEGER NOT NULL REFERENCES users ( account_id ) ON DELETE CASCADE , hash BLOB NOT NULL , PRIMARY KEY ( account_id , hash ) ) STRICT , WITHOUT ROWID;
CREATE TABLE blocks ( account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , target_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , uri TEXT UNIQUE , PRIMARY KEY ( account_id , target_id ) ) STRICT , WITHOUT ROWID;
CREATE INDEX blocks_target ON blocks ( target_id , account_id );
CREATE TABLE bookmark_folders ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , name TEXT NOT NULL , emoji TEXT NOT NULL ) STRICT;
CREATE INDEX bookmark_folders_account ON bookmark_folders ( account_id , id );
CREATE TABLE bookmarks ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , status_id INTEGER NOT NULL REFERENCES statuses ( id ) ON DELETE CASCADE , folder_id INTEGER REFERENCES bookmark_folders ( id ) ON DELETE SET NULL , UNIQUE ( account_id , status_id ) ) STRICT;
CREATE INDEX bookmarks_account ON bookmarks ( account_id , id );
CREATE INDEX bookmarks_folder ON bookmarks ( folder_id , id ) WHERE folder_id IS NOT NULL;
CREATE INDEX bookmarks_status ON bookmarks ( status_id );
CREATE TABLE canonical_email_blocks ( id INTEGER PRIMARY KEY , hash TEXT NOT NULL UNIQUE ) STRICT;
CREATE TABLE cards ( id INTEGER PRIMARY KEY , url TEXT NOT NULL UNIQUE , card TEXT NOT NULL , fetched_at INTEGER NOT NULL ) STRICT;
CREATE TABLE chat_copies ( id INTEGER PRIMARY KEY , chat_id INTEGER NOT NULL REFERENCES chats ( id ) ON DELETE CASCADE , message_id INTEGER NOT NULL REFERENCES chat_messages ( id ) ON DELETE CASCADE , unread INTEGER NOT NULL CHECK ( unread IN ( 0 , 1 ) ) , UNIQUE ( message_id , chat_id ) ) STRICT;
CREATE INDEX chat_copies_chat ON chat_copies ( chat_id , id );
CREATE INDEX chat_copies_unread ON chat_copies ( chat_id , id ) WHERE unread = 1;
CREATE TABLE chat_message_keys ( account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , key TEXT NOT NULL , message_id INTEGER NOT NULL REFERENCES chat_messages ( id ) ON DELETE CASCADE , created_at INTEGER NOT NULL , PRIMARY KEY ( account_id , key ) ) STRICT , WITHOUT ROWID;
CREATE INDEX chat_message_keys_age ON chat_message_keys ( created_at );
CREATE INDEX chat_message_keys_message ON chat_message_keys ( message_id , account_id );
CREATE TABLE chat_messages ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , recipient_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , uri TEXT NOT NULL UNIQUE , created_at INTEGER NOT NULL , content TEXT NOT NULL DEFAULT '' , emojis TEXT ) STRICT;
CREATE INDEX chat_messages_account ON chat_messages ( account_id );
CREATE INDEX chat_messages_recipient ON chat_messages ( recipient_id );
CREATE TABLE chats ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , other_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , position INTEGER NOT NULL , updated_at INTEGER NOT NULL , UNIQUE ( account_id , other_id ) ) STRICT;
CREATE INDEX chats_order ON chats ( account_id , position );
CREATE INDEX chats_other ON chats ( other_id );
CREATE TABLE collection_items ( id INTEGER PRIMARY KEY , collection_id INTEGER NOT NULL REFERENCES collections ( id ) ON DELETE CASCADE , target_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , domain TEXT NOT NULL , state INTEGER NOT NULL CHECK ( state BETWEEN 0 AND 3 ) , request_uri TEXT NOT NULL , item_uri TEXT NOT NULL DEFAULT '' , authorization_uri TEXT NOT NULL DEFAULT '' , UNIQUE ( collection_id , target_id ) ) STRICT;
CREATE INDEX collection_items_account ON collection_items ( account_id , target_id );
CREATE INDEX collection_items_authorization ON collection_items ( authorization_uri ) WHERE authorization_uri <> '';
CREATE INDEX collection_items_domain ON collection_items ( target_id , domain );
CREATE INDEX collection_items_target ON collection_items ( target_id , id ) WHERE state = 1;
CREATE TABLE collections ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , uri TEXT NOT NULL UNIQUE , url TEXT NOT NULL , name TEXT NOT NULL , description TEXT NOT NULL , language TEXT NOT NULL DEFAULT '' , tag TEXT NOT NULL DEFAULT '' , sensitive INTEGER NOT NULL CHECK ( sensitive IN ( 0 , 1 ) ) , discoverable INTEGER NOT NULL CHECK ( discoverable IN ( 0 , 1 ) ) , item_count INTEGER NOT NULL DEFAULT 0 , updated_at INTEGER NOT NULL ) STRICT;
CREATE INDEX collections_account ON collections ( account_id , id );
CREATE TABLE dead_addresses ( path TEXT PRIMARY KEY ) STRICT , WITHOUT ROWID;
CREATE TABLE dead_nicknames ( nickname_key TEXT PRIMARY KEY ) STRICT , WITHOUT ROWID;
CREATE TABLE deliveries ( id INTEGER PRIMARY KEY , activity_id INTEGER NOT NULL REFERENCES activities ( id ) ON DELETE CASCADE , inbox TEXT NOT NULL , domain TEXT NOT NULL , priority INTEGER NOT NULL CHECK ( priority BETWEEN 0 AND 3 ) , subject INTEGER NOT NULL , run_at INTEGER NOT NULL , attempts INTEGER NOT NULL DEFAULT 0 , parked INTEGER NOT NULL DEFAULT 0 CHECK ( parked IN ( 0 , 1 ) ) , last_error TEXT NOT NULL DEFAULT '' , UNIQUE ( activity_id , inbox ) ) STRICT;
CREATE INDEX deliveries_due ON deliveries ( domain , priority , id ) WHERE parked = 0;
CREATE INDEX deliveries_parked ON deliveries ( domain , id ) WHERE parked = 1;
CREATE INDEX deliveries_subject ON deliveries ( subject , inbox , parked , id ) WHERE subject <> 0;
CREATE INDEX deliveries_time ON deliveries ( domain , run_at ) WHERE parked = 0;
CREATE TABLE direct_conversations ( id INTEGER PRIMARY KEY AUTOINCREMENT , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , conversation_id INTEGER NOT NULL , last_status_id INTEGER NOT NULL REFERENCES statuses ( id ) ON DELETE CASCADE , read_id INTEGER NOT NULL , recipients TEXT NOT NULL , UNIQUE ( account_id , conversation_id ) ) STRICT;
CREATE INDEX direct_conversations_last ON direct_conversations ( last_status_id );
CREATE INDEX direct_conversations_newest ON direct_conversations ( account_id , last_status_id );
CREATE INDEX direct_conversations_recipients ON direct_conversations ( account_id , recipients , last_status_id );
CREATE INDEX direct_conversations_thread ON direct_conversations ( conversation_id , account_id );
CREATE INDEX direct_conversations_unread ON direct_conversations ( account_id , last_status_id , read_id ) WHERE last_status_id > read_id;
CREATE TABLE domain_blocks ( account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , domain TEXT NOT NULL , PRIMARY KEY ( account_id , domain ) ) STRICT , WITHOUT ROWID;
CREATE TABLE email_domain_blocks ( id INTEGER PRIMARY KEY , domain TEXT NOT NULL UNIQUE , allow_with_approval INTEGER NOT NULL DEFAULT 0 CHECK ( allow_with_approval IN ( 0 , 1 ) ) ) STRICT;
CREATE TABLE endorsements ( account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , target_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , PRIMARY KEY ( account_id , target_id ) ) STRICT , WITHOUT ROWID;
CREATE INDEX endorsements_target ON endorsements ( target_id );
CREATE TABLE favourites ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , status_id INTEGER NOT NULL REFERENCES statuses ( id ) ON DELETE CASCADE , uri TEXT UNIQUE , pending INTEGER NOT NULL DEFAULT 0 CHECK ( pending IN ( 0 , 1 ) ) , approval TEXT NOT NULL DEFAULT '' , UNIQUE ( account_id , status_id ) ) STRICT;
CREATE INDEX favourites_account ON favourites ( account_id , id );
CREATE INDEX favourites_approval ON favourites ( approval ) WHERE approval <> '';
CREATE INDEX favourites_status ON favourites ( status_id , id );
CREATE TABLE featured_tags ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES users ( account_id ) ON DELETE CASCADE , tag_id INTEGER NOT NULL REFERENCES tags ( id ) , UNIQUE ( account_id , tag_id ) ) STRICT;
CREATE INDEX featured_tags_tag ON featured_tags ( tag_id );
CREATE TABLE filter_keywords ( id INTEGER PRIMARY KEY , filter_id INTEGER NOT NULL REFERENCES filters ( id ) ON DELETE CASCADE , keyword TEXT NOT NULL , whole_word INTEGER NOT NULL CHECK ( whole_word IN ( 0 , 1 ) ) ) STRICT;
CREATE INDEX filter_keywords_filter ON filter_keywords ( filter_id , id );
CREATE TABLE filter_statuses ( id INTEGER PRIMARY KEY , filter_id INTEGER NOT NULL REFERENCES filters ( id ) ON DELETE CASCADE , status_id INTEGER NOT NULL REFERENCES statuses ( id ) ON DELETE CASCADE , UNIQUE ( filter_id , status_id ) ) STRICT;
CREATE INDEX filter_statuses_filter ON filter_statuses ( filter_id , id );
CREATE INDEX filter_statuses_status ON filter_statuses ( status_id );
CREATE TABLE filters ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , title TEXT NOT NULL , context TEXT NOT NULL , action TEXT NOT NULL CHECK ( action IN ( 'warn' , 'hide' , 'blur' ) ) , expires_at INTEGER ) STRICT;
CREATE INDEX filters_account ON filters ( account_id , id );
CREATE TABLE follows ( id INTEGER PRIMARY KEY , follower_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , target_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , pending INTEGER NOT NULL DEFAULT 0 CHECK ( pending IN ( 0 , 1 ) ) , follower_local INTEGER NOT NULL DEFAULT 1 CHECK ( follower_local IN ( 0 , 1 ) ) , show_reblogs INTEGER NOT NULL DEFAULT 1 CHECK ( show_reblogs IN ( 0 , 1 ) ) , languages TEXT NOT NULL DEFAULT '[]' , uri TEXT UNIQUE , UNIQUE ( follower_id , target_id ) ) STRICT;
CREATE INDEX follows_followers ON follows ( target_id , pending , follower_id );
CREATE INDEX follows_following ON follows ( follower_id , target_id ) WHERE pending = 0;
CREATE INDEX follows_hidden_reblogs ON follows ( follower_id ) WHERE show_reblogs = 0;
CREATE INDEX follows_local ON follows ( target_id , follower_id , show_reblogs , languages ) WHERE pending = 0 AND follower_local = 1;
CREATE INDEX follows_outgoing ON follows ( follower_id , id ) WHERE pending = 1;
CREATE INDEX follows_remote ON follows ( target_id , follower_id ) WHERE pending = 0 AND follower_local = 0;
CREATE INDEX follows_requests ON follows ( target_id , id ) WHERE pending = 1;
CREATE TABLE frontend_settings ( account_id INTEGER NOT NULL REFERENCES users ( account_id ) ON DELETE CASCADE , name TEXT NOT NULL , settings TEXT NOT NULL , PRIMARY KEY ( account_id , name ) ) STRICT;
CREATE TABLE home ( account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , status_id INTEGER NOT NULL REFERENCES statuses ( id ) ON DELETE CASCADE , PRIMARY KEY ( account_id , status_id ) ) STRICT , WITHOUT ROWID;
CREATE INDEX home_status ON home ( status_id );
CREATE TABLE host_blocks ( id INTEGER PRIMARY KEY , host TEXT NOT NULL , allow INTEGER NOT NULL CHECK ( allow IN ( 0 , 1 ) ) , private_comment TEXT NOT NULL DEFAULT '' , UNIQUE ( host , allow ) ) STRICT;
CREATE INDEX host_blocks_allow ON host_blocks ( allow , id );
CREATE TABLE hosts ( domain TEXT PRIMARY KEY , due_at INTEGER , failures INTEGER NOT NULL DEFAULT 0 , backoff_until INTEGER NOT NULL DEFAULT 0 , unreachable_since INTEGER , last_success_at INTEGER , last_error TEXT NOT NULL DEFAULT '' , signature TEXT NOT NULL DEFAULT '' CHECK ( signature = '' OR signature = 'cavage' OR signature = 'rfc9421' OR signature = 'neither' ) , path_only INTEGER NOT NULL DEFAULT 0 CHECK ( path_only IN ( 0 , 1 ) ) , signature_at INTEGER NOT NULL DEFAULT 0 , software TEXT NOT NULL DEFAULT '' , version TEXT NOT NULL DEFAULT '' , checked_at INTEGER NOT NULL DEFAULT 0 , ed25519 TEXT NOT NULL DEFAULT '' , ed25519_at INTEGER NOT NULL DEFAULT 0 ) STRICT;
CREATE INDEX hosts_due ON hosts ( iif ( failures > 0 , 2 , last_success_at IS NULL ) , due_at ) WHERE due_at IS NOT NULL;
CREATE INDEX hosts_unreachable ON hosts ( unreachable_since ) WHERE unreachable_since IS NOT NULL;
CREATE TABLE idempotency_keys ( account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , key TEXT NOT NULL , created_id INTEGER NOT NULL , created_at INTEGER NOT NULL , PRIMARY KEY ( account_id , key ) ) STRICT , WITHOUT ROWID;
CREATE INDEX idempotency_keys_age ON idempotency_keys ( created_at );
CREATE TABLE import_entries ( import_id INTEGER NOT NULL REFERENCES imports ( id ) ON DELETE CASCADE , position INTEGER NOT NULL , state TEXT NOT NULL DEFAULT 'new' CHECK ( state IN ( 'new' , 'retry' , 'skipped' ) ) , target TEXT NOT NULL , options TEXT NOT NULL , reason TEXT NOT NULL DEFAULT '' , PRIMARY KEY ( import_id , position ) ) STRICT , WITHOUT ROWID;
CREATE INDEX import_entries_state ON import_entries ( import_id , state , position );
CREATE TABLE imported_statuses ( status_id INTEGER PRIMARY KEY REFERENCES statuses ( id ) ON DELETE CASCADE , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , archive_id INTEGER NOT NULL REFERENCES archives ( id ) ON DELETE CASCADE , original_uri TEXT NOT NULL , original_url TEXT NOT NULL , UNIQUE ( account_id , original_uri ) ) STRICT;
CREATE INDEX imported_statuses_archive ON imported_statuses ( archive_id , status_id );
CREATE TABLE imports ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , kind TEXT NOT NULL CHECK ( kind IN ( 'follows' , 'blocks' , 'mutes' , 'domain_blocks' , 'lists' , 'bookmarks' , 'likes' ) ) , total INTEGER NOT NULL , imported INTEGER NOT NULL DEFAULT 0 , skipped INTEGER NOT NULL DEFAULT 0 , finished_at INTEGER ) STRICT;
CREATE INDEX imports_account ON imports ( account_id , id );
CREATE INDEX imports_finished ON imports ( finished_at ) WHERE finished_at IS NOT NULL;
CREATE TABLE instance_purges ( domain TEXT PRIMARY KEY , requested_at INTEGER NOT NULL , accounts INTEGER NOT NULL DEFAULT 0 , statuses INTEGER NOT NULL DEFAULT 0 , accounts_done INTEGER NOT NULL DEFAULT 0 , statuses_done INTEGER NOT NULL DEFAULT 0 , began_at INTEGER , finished_at INTEGER ) STRICT;
CREATE INDEX instance_purges_time ON instance_purges ( requested_at );
CREATE TABLE interaction_requests ( id INTEGER PRIMARY KEY , author_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , status_id INTEGER NOT NULL REFERENCES statuses ( id ) ON DELETE CASCADE , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , domain TEXT NOT NULL , interaction INTEGER NOT NULL CHECK ( interaction BETWEEN 0 AND 2 ) , favourite_id INTEGER REFERENCES favourites ( id ) ON DELETE CASCADE , interacting_id INTEGER REFERENCES statuses ( id ) ON DELETE CASCADE , uri TEXT NOT NULL UNIQUE , request_uri TEXT NOT NULL DEFAULT '' , accepted_at INTEGER ) STRICT;
CREATE INDEX interaction_requests_account ON interaction_requests ( account_id , author_id );
CREATE INDEX interaction_requests_author ON interaction_requests ( author_id , accepted_at , id );
CREATE INDEX interaction_requests_domain ON interaction_requests ( domain , account_id ) WHERE accepted_at IS NULL;
CREATE UNIQUE INDEX interaction_requests_favourite ON interaction_requests ( favourite_id ) WHERE favourite_id IS NOT NULL;
CREATE UNIQUE INDEX interaction_requests_interacting ON interaction_requests ( interacting_id ) WHERE interacting_id IS NOT NULL;
CREATE INDEX interaction_requests_pending ON interaction_requests ( id ) WHERE accepted_at IS NULL;
CREATE INDEX interaction_requests_status ON interaction_requests ( status_id );
CREATE TABLE invites ( id INTEGER PRIMARY KEY AUTOINCREMENT , token TEXT NOT NULL UNIQUE , expires_on TEXT NOT NULL DEFAULT '' , max_use INTEGER CHECK ( max_use > 0 ) , uses INTEGER NOT NULL DEFAULT 0 , used INTEGER NOT NULL DEFAULT 0 CHECK ( used IN ( 0 , 1 ) ) , created_at INTEGER NOT NULL ) STRICT;
CREATE TABLE ip_blocks ( id INTEGER PRIMARY KEY , ip TEXT NOT NULL UNIQUE , severity TEXT NOT NULL CHECK ( severity IN ( 'sign_up_requires_approval' , 'sign_up_block' , 'no_access' ) ) , comment TEXT NOT NULL DEFAULT '' , expires_at INTEGER ) STRICT;
CREATE INDEX ip_blocks_expiry ON ip_blocks ( expires_at ) WHERE expires_at IS NOT NULL;
CREATE TABLE jobs ( id INTEGER PRIMARY KEY , kind TEXT NOT NULL , payload TEXT NOT NULL , unique_key TEXT UNIQUE , domain TEXT NOT NULL DEFAULT '' , run_at INTEGER NOT NULL , delayed INTEGER NOT NULL DEFAULT 0 CHECK ( delayed IN ( 0 , 1 ) ) , attempts INTEGER NOT NULL DEFAULT 0 , parked INTEGER NOT NULL DEFAULT 0 CHECK ( parked IN ( 0 , 1 ) ) , last_error TEXT NOT NULL DEFAULT '' ) STRICT;
CREATE INDEX jobs_due ON jobs ( domain , run_at ) WHERE parked = 0;
CREATE INDEX jobs_remote ON jobs ( run_at ) WHERE parked = 0 AND domain <> '';
CREATE TABLE limited_statuses ( status_id INTEGER PRIMARY KEY REFERENCES statuses ( id ) ON DELETE CASCADE , visibility INTEGER NOT NULL CHECK ( visibility IN ( 0 , 1 ) ) ) STRICT;
CREATE TABLE link_checks ( account_id INTEGER PRIMARY KEY REFERENCES accounts ( id ) ON DELETE CASCADE , due_at INTEGER NOT NULL ) STRICT;
CREATE INDEX link_checks_due ON link_checks ( due_at );
CREATE TABLE list_members ( list_id INTEGER NOT NULL REFERENCES lists ( id ) ON DELETE CASCADE , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , PRIMARY KEY ( list_id , account_id ) ) STRICT , WITHOUT ROWID;
CREATE INDEX list_members_account ON list_members ( account_id , list_id );
CREATE TABLE list_timeline ( list_id INTEGER NOT NULL REFERENCES lists ( id ) ON DELETE CASCADE , status_id INTEGER NOT NULL REFERENCES statuses ( id ) ON DELETE CASCADE , PRIMARY KEY ( list_id , status_id ) ) STRICT , WITHOUT ROWID;
CREATE INDEX list_timeline_status ON list_timeline ( status_id );
CREATE TABLE lists ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , title TEXT NOT NULL , replies_policy TEXT NOT NULL DEFAULT 'list' CHECK ( replies_policy IN ( 'followed' , 'list' , 'none' ) ) , exclusive INTEGER NOT NULL DEFAULT 0 CHECK ( exclusive IN ( 0 , 1 ) ) ) STRICT;
CREATE INDEX lists_account ON lists ( account_id , id );
CREATE TABLE markers ( account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , timeline TEXT NOT NULL CHECK ( timeline IN ( 'home' , 'notifications' ) ) , last_read_id INTEGER NOT NULL , version INTEGER NOT NULL , updated_at INTEGER NOT NULL , PRIMARY KEY ( account_id , timeline ) ) STRICT , WITHOUT ROWID;
CREATE TABLE media ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , status_id INTEGER REFERENCES statuses ( id ) ON DELETE SET NULL , message_id INTEGER REFERENCES chat_messages ( id ) ON DELETE SET NULL , scheduled_id INTEGER REFERENCES scheduled_statuses ( id ) ON DELETE SET NULL , position INTEGER NOT NULL DEFAULT 0 , is_mascot INTEGER NOT NULL DEFAULT 0 CHECK ( is_mascot IN ( 0 , 1 ) ) , type TEXT NOT NULL , mime TEXT NOT NULL , file TEXT NOT NULL DEFAULT '' , thumbnail TEXT NOT NULL DEFAULT '' , remote_url TEXT NOT NULL DEFAULT '' , preview_url TEXT NOT NULL DEFAULT '' , description TEXT NOT NULL DEFAULT '' , size INTEGER NOT NULL DEFAULT 0 , width INTEGER NOT NULL DEFAULT 0 , height INTEGER NOT NULL DEFAULT 0 , preview_width INTEGER NOT NULL DEFAULT 0 , preview_height INTEGER NOT NULL DEFAULT 0 , duration INTEGER NOT NULL DEFAULT 0 , frame_rate REAL NOT NULL DEFAULT 0 , blurhash TEXT NOT NULL DEFAULT '' , focus_x REAL NOT NULL DEFAULT 0 CHECK ( focus_x BETWEEN - 1 AND 1 ) , focus_y REAL NOT NULL DEFAULT 0 CHECK ( focus_y BETWEEN - 1 AND 1 ) , created_at INTEGER NOT NULL , detached_at INTEGER ) STRICT;
CREATE INDEX media_account ON media ( account_id , id );
CREATE INDEX media_detached ON media ( detached_at ) WHERE status_id IS NULL AND message_id IS NULL AND scheduled_id IS NULL AND is_mascot = 0;
CREATE INDEX media_file ON media ( file ) WHERE file <> '';
CREATE UNIQUE INDEX media_mascot ON media ( account_id ) WHERE is_mascot = 1;
CREATE INDEX media_message ON media ( message_id ) WHERE message_id IS NOT NULL;
CREATE INDEX media_scheduled ON media ( scheduled_id , position ) WHERE scheduled_id IS NOT NULL;
CREATE INDEX media_status ON media ( status_id , position ) WHERE status_id IS NOT NULL;
CREATE INDEX media_thumbnail ON media ( thumbnail ) WHERE thumbnail <> '';
CREATE TABLE media_bans ( id INTEGER PRIMARY KEY , address TEXT NOT NULL UNIQUE , sha256 TEXT NOT NULL DEFAULT '' , banned_at INTEGER NOT NULL ) STRICT;
CREATE INDEX media_bans_sha256 ON media_bans ( sha256 ) WHERE sha256 <> '';
CREATE TABLE meta ( id INTEGER PRIMARY KEY CHECK ( id = 1 ) , worker INTEGER NOT NULL , last_id INTEGER NOT NULL , created_at INTEGER NOT NULL , server_url TEXT NOT NULL DEFAULT '' , keys_hash BLOB NOT NULL DEFAULT x'' , schema_hash TEXT NOT NULL DEFAULT '' , server_host TEXT NOT NULL DEFAULT '' ) STRICT;
CREATE TABLE mfa_challenges ( hash BLOB PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES users ( account_id ) ON DELETE CASCADE , app_id INTEGER REFERENCES oauth_apps ( id ) ON DELETE CASCADE , purpose TEXT NOT NULL , failures INTEGER NOT NULL DEFAULT 0 , expires_at INTEGER NOT NULL ) STRICT , WITHOUT ROWID;
CREATE INDEX mfa_challenges_account ON mfa_challenges ( account_id );
CREATE INDEX mfa_challenges_app ON mfa_challenges ( app_id );
CREATE INDEX mfa_challenges_expiry ON mfa_challenges ( expires_at );
CREATE TABLE moderation_log ( id INTEGER PRIMARY KEY , actor_id INTEGER REFERENCES accounts ( id ) ON DELETE SET NULL , actor TEXT NOT NULL , action TEXT NOT NULL , message TEXT NOT NULL , data TEXT NOT NULL ) STRICT;
CREATE INDEX moderation_log_actor ON moderation_log ( actor_id , id ) WHERE actor_id IS NOT NULL;
CREATE TABLE mutes ( account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , target_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , hide_notifications INTEGER NOT NULL DEFAULT 1 CHECK ( hide_notifications IN ( 0 , 1 ) ) , expires_at INTEGER , PRIMARY KEY ( account_id , target_id ) ) STRICT , WITHOUT ROWID;
CREATE INDEX mutes_target ON mutes ( target_id );
CREATE TABLE notification_permissions ( account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , target_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , PRIMARY KEY ( account_id , target_id ) ) STRICT , WITHOUT ROWID;
CREATE INDEX notification_permissions_target ON notification_permissions ( target_id );
CREATE TABLE notification_policies ( account_id INTEGER PRIMARY KEY REFERENCES users ( account_id ) ON DELETE CASCADE , for_not_following INTEGER NOT NULL DEFAULT 0 CHECK ( for_not_following BETWEEN 0 AND 1 ) , for_not_followers INTEGER NOT NULL DEFAULT 0 CHECK ( for_not_followers BETWEEN 0 AND 2 ) , for_new_accounts INTEGER NOT NULL DEFAULT 0 CHECK ( for_new_accounts BETWEEN 0 AND 2 ) , for_private_mentions INTEGER NOT NULL DEFAULT 0 CHECK ( for_private_mentions BETWEEN 0 AND 2 ) , for_limited_accounts INTEGER NOT NULL DEFAULT 0 CHECK ( for_limited_accounts BETWEEN 0 AND 2 ) ) STRICT;
CREATE TABLE notification_requests ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , from_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , UNIQUE ( account_id , from_id ) ) STRICT;
CREATE INDEX notification_requests_account ON notification_requests ( account_id , id );
CREATE INDEX notification_requests_from ON notification_requests ( from_id );
CREATE TABLE notifications ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , type TEXT NOT NULL , from_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , status_id INTEGER REFERENCES statuses ( id ) ON DELETE CASCADE , message_id INTEGER REFERENCES chat_messages ( id ) ON DELETE CASCADE , detail TEXT NOT NULL DEFAULT '' , read INTEGER NOT NULL DEFAULT 0 CHECK ( read IN ( 0 , 1 ) ) , muted INTEGER NOT NULL DEFAULT 0 CHECK ( muted IN ( 0 , 1 ) ) , filtered INTEGER NOT NULL DEFAULT 0 CHECK ( filtered IN ( 0 , 1 ) ) ) STRICT;
CREATE INDEX notifications_account ON notifications ( account_id , id );
CREATE INDEX notifications_filtered ON notifications ( account_id , from_id , id ) WHERE filtered = 1;
CREATE INDEX notifications_from ON notifications ( from_id , account_id );
CREATE INDEX notifications_groups ON notifications ( account_id , type , status_id , id ) WHERE type = 'favourite' OR type = 'follow' OR type = 'reblog';
CREATE INDEX notifications_message ON notifications ( message_id ) WHERE message_id IS NOT NULL;
CREATE UNIQUE INDEX notifications_once ON notifications ( account_id , type , from_id , detail , ifnull ( message_id , 0 ) ) WHERE status_id IS NULL;
CREATE UNIQUE INDEX notifications_status ON notifications ( status_id , account_id , type , from_id , detail ) WHERE status_id IS NOT NULL;
CREATE INDEX notifications_unread ON notifications ( account_id , id ) WHERE read = 0;
CREATE INDEX notifications_unread_hideable ON notifications ( account_id , id ) WHERE read = 0 AND ( type = 'chat_mention' OR type = 'poll' OR type = 'quote' OR type = 'report' OR type = 'status' OR type = 'update' );
CREATE TABLE oauth_apps ( id INTEGER PRIMARY KEY AUTOINCREMENT , client_id TEXT NOT NULL UNIQUE , client_secret TEXT NOT NULL , name TEXT NOT NULL , website TEXT NOT NULL DEFAULT '' , redirect_uris TEXT NOT NULL , scopes TEXT NOT NULL , trusted INTEGER NOT NULL DEFAULT 0 CHECK ( trusted IN ( 0 , 1 ) ) , owner_id INTEGER REFERENCES accounts ( id ) ON DELETE SET NULL , created_at INTEGER NOT NULL ) STRICT;
CREATE INDEX oauth_apps_name ON oauth_apps ( name , id );
CREATE INDEX oauth_apps_owner ON oauth_apps ( owner_id ) WHERE owner_id IS NOT NULL;
CREATE INDEX oauth_apps_trusted ON oauth_apps ( id ) WHERE trusted = 1;
CREATE TABLE oauth_codes ( hash BLOB PRIMARY KEY , app_id INTEGER NOT NULL REFERENCES oauth_apps ( id ) ON DELETE CASCADE , account_id INTEGER NOT NULL REFERENCES users ( account_id ) ON DELETE CASCADE , redirect_uri TEXT NOT NULL , redirect_given INTEGER NOT NULL CHECK ( redirect_given IN ( 0 , 1 ) ) , scopes TEXT NOT NULL , code_challenge TEXT NOT NULL DEFAULT '' , expires_at INTEGER NOT NULL , token_id INTEGER REFERENCES oauth_tokens ( id ) ON DELETE CASCADE ) STRICT , WITHOUT ROWID;
CREATE INDEX oauth_codes_account ON oauth_codes ( account_id );
CREATE INDEX oauth_codes_app ON oauth_codes ( app_id );
CREATE INDEX oauth_codes_expiry ON oauth_codes ( expires_at );
CREATE INDEX oauth_codes_token ON oauth_codes ( token_id ) WHERE token_id IS NOT NULL;
CREATE TABLE oauth_tokens ( id INTEGER PRIMARY KEY AUTOINCREMENT , hash BLOB NOT NULL UNIQUE , refresh_hash BLOB UNIQUE , app_id INTEGER REFERENCES oauth_apps ( id ) ON DELETE CASCADE , account_id INTEGER REFERENCES users ( account_id ) ON DELETE CASCADE , scopes TEXT NOT NULL , created_at INTEGER NOT NULL , last_used_at INTEGER NOT NULL , expires_at INTEGER ) STRICT;
CREATE INDEX oauth_tokens_account ON oauth_tokens ( account_id , id );
CREATE INDEX oauth_tokens_app ON oauth_tokens ( app_id , account_id );
CREATE TABLE old_addresses ( path TEXT PRIMARY KEY , status_id INTEGER NOT NULL REFERENCES statuses ( id ) ON DELETE CASCADE ) STRICT , WITHOUT ROWID;
CREATE INDEX old_addresses_status ON old_addresses ( status_id );
CREATE TABLE old_media ( path TEXT PRIMARY KEY , target TEXT NOT NULL ) STRICT , WITHOUT ROWID;
CREATE TABLE one_time_tokens ( hash BLOB PRIMARY KEY , kind TEXT NOT NULL CHECK ( kind IN ( 'reset' , 'confirm' , 'change' ) ) , account_id INTEGER NOT NULL REFERENCES users ( account_id ) ON DELETE CASCADE , expires_at INTEGER NOT NULL ) STRICT , WITHOUT ROWID;
CREATE INDEX one_time_tokens_account ON one_time_tokens ( account_id , kind );
CREATE INDEX one_time_tokens_expiry ON one_time_tokens ( expires_at );
CREATE TABLE pins ( status_id INTEGER PRIMARY KEY REFERENCES statuses ( id ) ON DELETE CASCADE , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , pinned_at INTEGER NOT NULL ) STRICT;
CREATE INDEX pins_account ON pins ( account_id , status_id );
CREATE TABLE poll_votes ( poll_id INTEGER NOT NULL REFERENCES polls ( id ) ON DELETE CASCADE , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , choice INTEGER NOT NULL , PRIMARY KEY ( poll_id , account_id , choice ) ) STRICT , WITHOUT ROWID;
CREATE INDEX poll_votes_account ON poll_votes ( account_id );
CREATE TABLE polls ( id INTEGER PRIMARY KEY , status_id INTEGER NOT NULL UNIQUE REFERENCES statuses ( id ) ON DELETE CASCADE , multiple INTEGER NOT NULL CHECK ( multiple IN ( 0 , 1 ) ) , hide_totals INTEGER NOT NULL DEFAULT 0 CHECK ( hide_totals IN ( 0 , 1 ) ) , expires_at INTEGER , closed INTEGER NOT NULL DEFAULT 0 CHECK ( closed IN ( 0 , 1 ) ) , voters_count INTEGER , fetched_at INTEGER , options TEXT NOT NULL ) STRICT;
CREATE TABLE push_subscriptions ( id INTEGER PRIMARY KEY , token_id INTEGER NOT NULL UNIQUE REFERENCES oauth_tokens ( id ) ON DELETE CASCADE , account_id INTEGER NOT NULL REFERENCES users ( account_id ) ON DELETE CASCADE , endpoint TEXT NOT NULL , p256dh BLOB NOT NULL , auth BLOB NOT NULL , token BLOB NOT NULL , alerts TEXT NOT NULL , policy TEXT NOT NULL CHECK ( policy IN ( 'all' , 'followed' , 'follower' , 'none' ) ) , standard INTEGER NOT NULL CHECK ( standard IN ( 0 , 1 ) ) ) STRICT;
CREATE INDEX push_subscriptions_account ON push_subscriptions ( account_id , id );
CREATE TABLE queued_activities ( id INTEGER PRIMARY KEY , signer_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , recipient_id INTEGER REFERENCES accounts ( id ) ON DELETE CASCADE , received_at INTEGER NOT NULL , run_at INTEGER NOT NULL , attempts INTEGER NOT NULL DEFAULT 0 , parked INTEGER NOT NULL DEFAULT 0 CHECK ( parked IN ( 0 , 1 ) ) , last_error TEXT NOT NULL DEFAULT '' , body TEXT NOT NULL ) STRICT;
CREATE INDEX queued_activities_due ON queued_activities ( run_at ) WHERE parked = 0;
CREATE INDEX queued_activities_parked ON queued_activities ( id ) WHERE parked = 1;
CREATE INDEX queued_activities_recipient ON queued_activities ( recipient_id ) WHERE recipient_id IS NOT NULL;
CREATE INDEX queued_activities_signer ON queued_activities ( signer_id );
CREATE TABLE quote_authorizations ( id INTEGER PRIMARY KEY , status_id INTEGER NOT NULL REFERENCES statuses ( id ) ON DELETE CASCADE , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , quote_uri TEXT NOT NULL , request_uri TEXT NOT NULL , UNIQUE ( quote_uri , status_id ) ) STRICT;
CREATE INDEX quote_authorizations_account ON quote_authorizations ( account_id , status_id );
CREATE INDEX quote_authorizations_status ON quote_authorizations ( status_id );
CREATE TABLE reaction_counts ( status_id INTEGER NOT NULL REFERENCES statuses ( id ) ON DELETE CASCADE , emoji TEXT NOT NULL , url TEXT NOT NULL , count INTEGER NOT NULL , first_id INTEGER NOT NULL , PRIMARY KEY ( status_id , emoji ) ) STRICT , WITHOUT ROWID;
CREATE TABLE reactions ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , status_id INTEGER NOT NULL REFERENCES statuses ( id ) ON DELETE CASCADE , emoji TEXT NOT NULL , url TEXT NOT NULL , uri TEXT UNIQUE , UNIQUE ( account_id , status_id , emoji ) ) STRICT;
CREATE INDEX reactions_status ON reactions ( status_id , emoji , id , account_id );
CREATE TABLE recipients ( status_id INTEGER NOT NULL REFERENCES statuses ( id ) ON DELETE CASCADE , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , position INTEGER NOT NULL , mentioned INTEGER NOT NULL CHECK ( mentioned IN ( 0 , 1 ) ) , direct INTEGER NOT NULL CHECK ( direct IN ( 0 , 1 ) ) , PRIMARY KEY ( status_id , account_id ) ) STRICT , WITHOUT ROWID;
CREATE INDEX recipients_account ON recipients ( account_id , status_id );
CREATE INDEX recipients_direct ON recipients ( account_id , status_id ) WHERE direct = 1;
CREATE TABLE refusals ( id INTEGER PRIMARY KEY , uri TEXT NOT NULL , object TEXT NOT NULL , domain TEXT NOT NULL , reason TEXT NOT NULL ) STRICT;
CREATE INDEX refusals_object ON refusals ( object );
CREATE INDEX refusals_uri ON refusals ( uri );
CREATE TABLE relays ( id INTEGER PRIMARY KEY , address TEXT NOT NULL UNIQUE , inbox TEXT NOT NULL , account_id INTEGER UNIQUE REFERENCES accounts ( id ) ON DELETE CASCADE , litepub INTEGER NOT NULL CHECK ( litepub IN ( 0 , 1 ) ) , follow_uri TEXT NOT NULL UNIQUE , accepted INTEGER NOT NULL DEFAULT 0 CHECK ( accepted IN ( 0 , 1 ) ) ) STRICT;
CREATE INDEX relays_accepted ON relays ( id ) WHERE accepted = 1;
CREATE TABLE remote_statuses ( status_id INTEGER PRIMARY KEY REFERENCES statuses ( id ) ON DELETE CASCADE , parent_uri TEXT NOT NULL DEFAULT '' , quote_uri TEXT NOT NULL DEFAULT '' , replies_uri TEXT NOT NULL DEFAULT '' , replies_at INTEGER NOT NULL DEFAULT 0 , fetched_at INTEGER NOT NULL DEFAULT 0 , authorization TEXT NOT NULL DEFAULT '' , approval TEXT NOT NULL DEFAULT '' , quiet INTEGER NOT NULL DEFAULT 0 CHECK ( quiet IN ( 0 , 1 ) ) ) STRICT;
CREATE INDEX remote_statuses_approval ON remote_statuses ( approval ) WHERE approval <> '';
CREATE INDEX remote_statuses_authorization ON remote_statuses ( authorization ) WHERE authorization <> '';
CREATE INDEX remote_statuses_parent ON remote_statuses ( parent_uri ) WHERE parent_uri <> '';
CREATE INDEX remote_statuses_quote ON remote_statuses ( quote_uri ) WHERE quote_uri <> '';
CREATE TABLE removed_originals ( account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , original_uri TEXT NOT NULL , archive_id INTEGER NOT NULL REFERENCES archives ( id ) ON DELETE CASCADE , PRIMARY KEY ( account_id , original_uri ) ) STRICT , WITHOUT ROWID;
CREATE INDEX removed_originals_archive ON removed_originals ( archive_id );
CREATE TABLE report_notes ( id INTEGER PRIMARY KEY , report_id INTEGER NOT NULL REFERENCES reports ( id ) ON DELETE CASCADE , account_id INTEGER REFERENCES accounts ( id ) ON DELETE SET NULL , content TEXT NOT NULL ) STRICT;
CREATE INDEX report_notes_account ON report_notes ( account_id ) WHERE account_id IS NOT NULL;
CREATE INDEX report_notes_report ON report_notes ( report_id , id );
CREATE TABLE report_statuses ( report_id INTEGER NOT NULL REFERENCES reports ( id ) ON DELETE CASCADE , position INTEGER NOT NULL , status_id INTEGER REFERENCES statuses ( id ) ON DELETE SET NULL , original_status_id INTEGER NOT NULL , uri TEXT NOT NULL , spoiler_text TEXT NOT NULL , content TEXT NOT NULL , created_at INTEGER NOT NULL , PRIMARY KEY ( report_id , position ) ) STRICT , WITHOUT ROWID;
CREATE INDEX report_statuses_status ON report_statuses ( status_id ) WHERE status_id IS NOT NULL;
CREATE TABLE reports ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , target_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , state TEXT NOT NULL DEFAULT 'open' CHECK ( state IN ( 'open' , 'closed' , 'resolved' ) ) , category TEXT NOT NULL CHECK ( category IN ( 'spam' , 'legal' , 'violation' , 'other' ) ) , comment TEXT NOT NULL , forwarded INTEGER NOT NULL CHECK ( forwarded IN ( 0 , 1 ) ) , state_at INTEGER , decided_by_id INTEGER REFERENCES accounts ( id ) ON DELETE SET NULL , assigned_id INTEGER REFERENCES accounts ( id ) ON DELETE SET NULL , rules TEXT NOT NULL DEFAULT '[]' , uri TEXT UNIQUE , collections TEXT NOT NULL DEFAULT '[]' ) STRICT;
CREATE INDEX reports_account ON reports ( account_id , id );
CREATE INDEX reports_assigned ON reports ( assigned_id ) WHERE assigned_id IS NOT NULL;
CREATE INDEX reports_decided ON reports ( state_at ) WHERE state_at IS NOT NULL;
CREATE INDEX reports_decided_by ON reports ( decided_by_id ) WHERE decided_by_id IS NOT NULL;
CREATE INDEX reports_state ON reports ( state , id );
CREATE INDEX reports_target ON reports ( target_id , id );
CREATE TABLE rules ( id INTEGER PRIMARY KEY AUTOINCREMENT , priority INTEGER NOT NULL DEFAULT 0 , text TEXT NOT NULL , hint TEXT NOT NULL DEFAULT '' ) STRICT;
CREATE TABLE scheduled_statuses ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , app_id INTEGER REFERENCES oauth_apps ( id ) ON DELETE SET NULL , scheduled_at INTEGER NOT NULL , draft TEXT NOT NULL ) STRICT;
CREATE INDEX scheduled_statuses_account ON scheduled_statuses ( account_id , id );
CREATE INDEX scheduled_statuses_app ON scheduled_statuses ( app_id ) WHERE app_id IS NOT NULL;
CREATE INDEX scheduled_statuses_time ON scheduled_statuses ( account_id , scheduled_at );
CREATE TABLE scrobbles ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , visibility INTEGER NOT NULL CHECK ( visibility BETWEEN 0 AND 4 ) , title TEXT NOT NULL , artist TEXT NOT NULL DEFAULT '' , album TEXT NOT NULL DEFAULT '' , length INTEGER NOT NULL DEFAULT 0 , external_link TEXT NOT NULL DEFAULT '' , created_at INTEGER NOT NULL , uri TEXT UNIQUE ) STRICT;
CREATE INDEX scrobbles_account ON scrobbles ( account_id , id );
CREATE TABLE seen_activities ( hash BLOB PRIMARY KEY , seen_at INTEGER NOT NULL , source INTEGER NOT NULL ) STRICT , WITHOUT ROWID;
CREATE INDEX seen_activities_source ON seen_activities ( source , seen_at );
CREATE INDEX seen_activities_time ON seen_activities ( seen_at );
CREATE TABLE server_backups ( id INTEGER PRIMARY KEY CHECK ( id = 1 ) , attempted_at INTEGER NOT NULL , succeeded_at INTEGER , file TEXT NOT NULL DEFAULT '' , bytes INTEGER NOT NULL DEFAULT 0 , duration INTEGER NOT NULL DEFAULT 0 , damaged INTEGER NOT NULL DEFAULT 0 , last_error TEXT NOT NULL DEFAULT '' , notified INTEGER NOT NULL DEFAULT 0 CHECK ( notified IN ( 0 , 1 ) ) ) STRICT;
CREATE TABLE server_closure ( id INTEGER PRIMARY KEY CHECK ( id = 1 ) , began_at INTEGER NOT NULL , accounts INTEGER NOT NULL DEFAULT 0 , last_position INTEGER NOT NULL DEFAULT 0 , listed_at INTEGER , finished_at INTEGER ) STRICT;
CREATE TABLE server_closure_inboxes ( domain TEXT NOT NULL , inbox TEXT NOT NULL , position INTEGER NOT NULL DEFAULT 0 , queued INTEGER NOT NULL DEFAULT 0 , PRIMARY KEY ( domain , inbox ) ) STRICT , WITHOUT ROWID;
CREATE TABLE settings ( group_name TEXT NOT NULL , key TEXT NOT NULL , value TEXT NOT NULL , PRIMARY KEY ( group_name , key ) ) STRICT , WITHOUT ROWID;
CREATE TABLE sign_in_networks ( account_id INTEGER NOT NULL REFERENCES users ( account_id ) ON DELETE CASCADE , hash BLOB NOT NULL , seen_at INTEGER NOT NULL , PRIMARY KEY ( account_id , hash ) ) STRICT , WITHOUT ROWID;
CREATE TABLE status_counts ( domain TEXT NOT NULL , visibility INTEGER NOT NULL , count INTEGER NOT NULL , PRIMARY KEY ( domain , visibility ) ) STRICT , WITHOUT ROWID;
CREATE TABLE status_edits ( id INTEGER PRIMARY KEY , status_id INTEGER NOT NULL REFERENCES statuses ( id ) ON DELETE CASCADE , created_at INTEGER NOT NULL , sensitive INTEGER NOT NULL CHECK ( sensitive IN ( 0 , 1 ) ) , spoiler_text TEXT NOT NULL , text TEXT NOT NULL , content TEXT NOT NULL , content_type TEXT NOT NULL , media TEXT NOT NULL , poll TEXT NOT NULL DEFAULT '[]' ) STRICT;
CREATE INDEX status_edits_status ON status_edits ( status_id , id );
CREATE TABLE status_fetchers ( status_id INTEGER NOT NULL REFERENCES statuses ( id ) ON DELETE CASCADE , inbox TEXT NOT NULL , PRIMARY KEY ( status_id , inbox ) ) STRICT , WITHOUT ROWID;
CREATE TABLE status_tags ( tag_id INTEGER NOT NULL REFERENCES tags ( id ) , status_id INTEGER NOT NULL REFERENCES statuses ( id ) ON DELETE CASCADE , position INTEGER NOT NULL , visibility INTEGER NOT NULL , name TEXT NOT NULL DEFAULT '' , PRIMARY KEY ( tag_id , status_id ) ) STRICT , WITHOUT ROWID;
CREATE INDEX status_tags_listed ON status_tags ( tag_id , status_id ) WHERE visibility IN ( 0 , 2 );
CREATE INDEX status_tags_status ON status_tags ( status_id , position );
CREATE TABLE statuses ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES accounts ( id ) , visibility INTEGER NOT NULL CHECK ( visibility BETWEEN 0 AND 5 ) , reblog_of_id INTEGER REFERENCES statuses ( id ) ON DELETE CASCADE , conversation_id INTEGER NOT NULL , in_reply_to_id INTEGER REFERENCES statuses ( id ) ON DELETE SET NULL , in_reply_to_account_id INTEGER REFERENCES accounts ( id ) , domain TEXT NOT NULL , has_media INTEGER NOT NULL DEFAULT 0 CHECK ( has_media IN ( 0 , 1 ) ) , has_poll INTEGER NOT NULL DEFAULT 0 CHECK ( has_poll IN ( 0 , 1 ) ) , sensitive INTEGER NOT NULL DEFAULT 0 CHECK ( sensitive IN ( 0 , 1 ) ) , replies_count INTEGER NOT NULL DEFAULT 0 , reblogs_count INTEGER NOT NULL DEFAULT 0 , favourites_count INTEGER NOT NULL DEFAULT 0 , quotes_count INTEGER NOT NULL DEFAULT 0 , quote_of_id INTEGER REFERENCES statuses ( id ) ON DELETE SET NULL , quote_state INTEGER NOT NULL DEFAULT 0 CHECK ( quote_state BETWEEN 0 AND 3 ) , quote_policy INTEGER NOT NULL DEFAULT 0 CHECK ( quote_policy BETWEEN 0 AND 2 ) , interaction_policy INTEGER NOT NULL DEFAULT 0 , pending_visibility INTEGER CHECK ( pending_visibility BETWEEN 0 AND 5 ) , card_id INTEGER REFERENCES cards ( id ) ON DELETE SET NULL , list_id INTEGER REFERENCES lists ( id ) ON DELETE SET NULL , addressed INTEGER NOT NULL DEFAULT 0 CHECK ( addressed IN ( 0 , 1 ) ) , app_id INTEGER REFERENCES oauth_apps ( id ) ON DELETE SET NULL , created_at INTEGER NOT NULL , edited_at INTEGER , expires_at INTEGER , language TEXT NOT NULL DEFAULT '' , content_type TEXT NOT NULL DEFAULT 'text/plain' , emojis TEXT NOT NULL DEFAULT '[]' , uri TEXT NOT NULL UNIQUE , url TEXT NOT NULL DEFAULT '' , spoiler_text TEXT NOT NULL DEFAULT '' , text TEXT NOT NULL DEFAULT '' , content TEXT NOT NULL DEFAULT '' , unfederated INTEGER NOT NULL DEFAULT 0 CHECK ( unfederated IN ( 0 , 1 ) ) ) STRICT;
CREATE INDEX statuses_account ON statuses ( account_id , id );
CREATE INDEX statuses_account_media ON statuses ( account_id , id ) WHERE has_media = 1;
CREATE INDEX statuses_anyone ON statuses ( id ) WHERE visibility = 0 AND reblog_of_id IS NULL;
CREATE INDEX statuses_anyone_account ON statuses ( account_id , id ) WHERE visibility IN ( 0 , 1 );
CREATE INDEX statuses_anyone_local ON statuses ( id ) WHERE visibility = 0 AND reblog_of_id IS NULL AND domain = '';
CREATE INDEX statuses_app ON statuses ( app_id ) WHERE app_id IS NOT NULL;
CREATE INDEX statuses_card ON statuses ( card_id ) WHERE card_id IS NOT NULL;
CREATE INDEX statuses_conversation ON statuses ( conversation_id , id ) WHERE reblog_of_id IS NULL;
CREATE INDEX statuses_direct ON statuses ( conversation_id , id ) WHERE visibility = 4;
CREATE INDEX statuses_domain ON statuses ( domain , id ) WHERE visibility IN ( 0 , 2 ) AND reblog_of_id IS NULL;
CREATE INDEX statuses_domain_media ON statuses ( domain , id ) WHERE visibility IN ( 0 , 2 ) AND reblog_of_id IS NULL AND has_media = 1;
CREATE INDEX statuses_domain_other ON statuses ( domain , id , visibility , reblog_of_id ) WHERE visibility = 1 OR visibility > 2 OR reblog_of_id IS NOT NULL;
CREATE INDEX statuses_list ON statuses ( list_id ) WHERE list_id IS NOT NULL;
CREATE INDEX statuses_local_conversations ON statuses ( conversation_id ) WHERE domain = '';
CREATE INDEX statuses_local_quotes ON statuses ( quote_of_id , account_id , id ) WHERE quote_of_id IS NOT NULL AND domain = '';
CREATE INDEX statuses_local_reblogs ON statuses ( account_id , visibility ) WHERE reblog_of_id IS NOT NULL AND domain = '';
CREATE INDEX statuses_other_replies ON statuses ( in_reply_to_id , id ) WHERE in_reply_to_id IS NOT NULL AND in_reply_to_account_id <> account_id AND visibility IN ( 0 , 1 );
CREATE INDEX statuses_public ON statuses ( id ) WHERE visibility IN ( 0 , 2 ) AND reblog_of_id IS NULL;
CREATE INDEX statuses_public_card ON statuses ( card_id , id ) WHERE card_id IS NOT NULL AND visibility = 0 AND reblog_of_id IS NULL;
CREATE INDEX statuses_public_media ON statuses ( id ) WHERE visibility IN ( 0 , 2 ) AND reblog_of_id IS NULL AND has_media = 1;
CREATE INDEX statuses_quotes ON statuses ( quote_of_id , id ) WHERE quote_of_id IS NOT NULL;
CREATE INDEX statuses_reblogged_by ON statuses ( reblog_of_id , id ) WHERE reblog_of_id IS NOT NULL;
CREATE UNIQUE INDEX statuses_reblogs ON statuses ( reblog_of_id , account_id ) WHERE reblog_of_id IS NOT NULL;
CREATE INDEX statuses_remote ON statuses ( id ) WHERE visibility IN ( 0 , 2 ) AND reblog_of_id IS NULL AND domain <> '';
CREATE INDEX statuses_replies ON statuses ( in_reply_to_id ) WHERE in_reply_to_id IS NOT NULL;
CREATE INDEX statuses_reply_accounts ON statuses ( in_reply_to_account_id ) WHERE in_reply_to_account_id IS NOT NULL;
CREATE INDEX statuses_self_replies ON statuses ( in_reply_to_id , id ) WHERE in_reply_to_id IS NOT NULL AND in_reply_to_account_id = account_id AND visibility IN ( 0 , 1 );
CREATE INDEX statuses_unfederated ON statuses ( account_id ) WHERE unfederated = 1 AND visibility IN ( 0 , 1 );
CREATE INDEX statuses_url ON statuses ( url ) WHERE domain <> '' AND url <> '';
CREATE VIRTUAL TABLE statuses_fts USING fts5 ( body , facets , content = '' , contentless_delete = 1 , tokenize = 'ascii' );
CREATE TABLE storage_alerts ( id INTEGER PRIMARY KEY CHECK ( id = 1 ) , reason TEXT NOT NULL , notified_at INTEGER NOT NULL ) STRICT;
CREATE TABLE storage_usage ( class TEXT PRIMARY KEY CHECK ( class = 'uploads' OR class = 'profiles' OR class = 'remote_posts' ) , count INTEGER NOT NULL , bytes INTEGER NOT NULL ) STRICT , WITHOUT ROWID;
CREATE TABLE stored_files ( name TEXT PRIMARY KEY , class TEXT NOT NULL CHECK ( class IN ( 'uploads' , 'profiles' ) ) , bytes INTEGER NOT NULL , sha256 TEXT NOT NULL DEFAULT '' ) STRICT , WITHOUT ROWID;
CREATE TABLE subscriptions ( account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , target_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , PRIMARY KEY ( account_id , target_id ) ) STRICT , WITHOUT ROWID;
CREATE INDEX subscriptions_target ON subscriptions ( target_id , account_id );
CREATE TABLE tag_follows ( id INTEGER PRIMARY KEY , account_id INTEGER NOT NULL REFERENCES users ( account_id ) ON DELETE CASCADE , tag_id INTEGER NOT NULL REFERENCES tags ( id ) , UNIQUE ( account_id , tag_id ) ) STRICT;
CREATE INDEX tag_follows_account ON tag_follows ( account_id , id );
CREATE INDEX tag_follows_tag ON tag_follows ( tag_id , account_id );
CREATE TABLE tags ( id INTEGER PRIMARY KEY , name TEXT NOT NULL , key TEXT NOT NULL UNIQUE ) STRICT;
CREATE TABLE thread_mutes ( account_id INTEGER NOT NULL REFERENCES accounts ( id ) ON DELETE CASCADE , conversation_id INTEGER NOT NULL , expires_at INTEGER , PRIMARY KEY ( account_id , conversation_id ) ) STRICT , WITHOUT ROWID;
CREATE INDEX thread_mutes_thread ON thread_mutes ( conversation_id );
CREATE TABLE threads ( conversation_id INTEGER PRIMARY KEY , uri TEXT NOT NULL UNIQUE ) STRICT;
CREATE TABLE tombstones ( uri TEXT PRIMARY KEY , deleted_at INTEGER NOT NULL , kind TEXT NOT NULL ) STRICT , WITHOUT ROWID;
CREATE TABLE used_captchas ( hash BLOB PRIMARY KEY , expires_at INTEGER NOT NULL ) STRICT , WITHOUT ROWID;
CREATE INDEX used_captchas_expiry ON used_captchas ( expires_at );
CREATE TABLE users ( account_id INTEGER PRIMARY KEY REFERENCES accounts ( id ) ON DELETE CASCADE , email TEXT NOT NULL DEFAULT '' , email_key TEXT UNIQUE , pending_email TEXT NOT NULL DEFAULT '' , password_hash TEXT NOT NULL , is_admin INTEGER NOT NULL DEFAULT 0 CHECK ( is_admin IN ( 0 , 1 ) ) , is_moderator INTEGER NOT NULL DEFAULT 0 CHECK ( is_moderator IN ( 0 , 1 ) ) , confirmed_at INTEGER , approved_at INTEGER , deactivated_at INTEGER , reset_required INTEGER NOT NULL DEFAULT 0 CHECK ( reset_required IN ( 0 , 1 ) ) , registration_reason TEXT NOT NULL DEFAULT '' , locale TEXT NOT NULL DEFAULT '' , note TEXT NOT NULL DEFAULT '' , fields TEXT NOT NULL DEFAULT '[]' , default_visibility INTEGER NOT NULL DEFAULT 0 CHECK ( default_visibility BETWEEN 0 AND 4 ) , default_sensitive INTEGER NOT NULL DEFAULT 0 CHECK ( default_sensitive IN ( 0 , 1 ) ) , default_language TEXT NOT NULL DEFAULT '' , default_quote_policy INTEGER NOT NULL DEFAULT 0 CHECK ( default_quote_policy BETWEEN 0 AND 2 ) , default_interaction_policies TEXT NOT NULL DEFAULT '{}' , no_rich_text INTEGER NOT NULL DEFAULT 0 CHECK ( no_rich_text IN ( 0 , 1 ) ) , show_role INTEGER NOT NULL DEFAULT 1 CHECK ( show_role IN ( 0 , 1 ) ) , skip_thread_containment INTEGER NOT NULL DEFAULT 0 CHECK ( skip_thread_containment IN ( 0 , 1 ) ) , allow_following_move INTEGER NOT NULL DEFAULT 1 CHECK ( allow_following_move IN ( 0 , 1 ) ) , block_from_strangers INTEGER NOT NULL DEFAULT 0 CHECK ( block_from_strangers IN ( 0 , 1 ) ) , hide_notification_contents INTEGER NOT NULL DEFAULT 0 CHECK ( hide_notification_contents IN ( 0 , 1 ) ) , totp_secret TEXT NOT NULL DEFAULT '' , totp_pending TEXT NOT NULL DEFAULT '' , totp_step INTEGER NOT NULL DEFAULT 0 , last_active_at INTEGER NOT NULL DEFAULT 0 ) STRICT;
CREATE INDEX users_active ON users ( last_active_at );
CREATE INDEX users_staff ON users ( account_id ) WHERE is_admin = 1 OR is_moderator = 1;
CREATE INDEX users_unconfirmed ON users ( account_id ) WHERE confirmed_at IS NULL;

-- A row of each table of schema.sql, in which each column has another value than its default where it may. The next version-N.sql contains them:
-- add the rows of a new table, and the values of a new column, before it is written (CONTRIBUTING.md, "A table").

INSERT INTO meta (id, worker, last_id, created_at, server_url, keys_hash, server_host)
VALUES (1, 1002, 1003, 1700000000004, 'server url of meta', x'060000ff', 'server host of meta');
INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, actor_type, display_name, note, fields, avatar, avatar_static, header, header_static, background, locked, discoverable, indexable, hide_favorites, hide_followers, hide_follows, hide_followers_count, hide_follows_count, accepts_chat_messages, birthday, show_birthday, also_known_as, moved_to_id, tags, emojis, followers_count, following_count, statuses_count, last_status_at, created_at, unavailable, deleted_at, suspended_at, rejected, max_visibility, limiting, suggested, feature_policy, attribution_domains, avatar_description, header_description, hide_media, hide_media_replies, hide_featured, feature_approval)
VALUES (1, 'Alice', 'alice', '', 'https://svc.example/users/Alice', 'https://svc.example/@Alice', 'Person', 'display name of accounts', 'It''s <b>größer</b> -- no comment; /* nor this */', '[{"name":"a","value":"b","verified_at":null}]', 'avatar of accounts', 'avatar static of accounts', 'header of accounts', 'header static of accounts', 'background of accounts', 1, 1, 1, 0, 1, 1, 1, 1, 1, '2000-12-31', 1, '["https://old.example/users/alice"]', NULL, '["mrf_tag:media-strip"]', '[{"shortcode":"blob","url":"https://remote.example/blob.png"}]', 1038, 1039, 1040, 1700000000041, 1700000000042, 0, NULL, NULL, 0, 3, 1, 1, 3, '["blog.example"]', 'avatar description of accounts', 'header description of accounts', 1, 1, 1, 3);
INSERT INTO accounts (id, nickname, nickname_key, domain, uri, url, actor_type, display_name, note, fields, avatar, avatar_static, header, header_static, background, locked, discoverable, indexable, hide_favorites, hide_followers, hide_follows, hide_followers_count, hide_follows_count, accepts_chat_messages, birthday, show_birthday, also_known_as, moved_to_id, tags, emojis, followers_count, following_count, statuses_count, last_status_at, created_at, unavailable, deleted_at, suspended_at, rejected, max_visibility, limiting, suggested, feature_policy, attribution_domains, avatar_description, header_description, hide_media, hide_media_replies, hide_featured, feature_approval)
VALUES (2, 'bob', 'bob', 'remote.example', 'https://remote.example/users/bob', 'https://remote.example/@bob', 'Service', 'display name of accounts', 'It''s <b>größer</b> -- no comment; /* nor this */', '[{"name":"a","value":"b","verified_at":null}]', 'avatar of accounts', 'avatar static of accounts', 'header of accounts', 'header static of accounts', 'background of accounts', 1, 1, 1, 0, 1, 1, 1, 1, 1, '2000-12-31', 1, '["https://old.example/users/alice"]', 1, '["mrf_tag:media-strip"]', '[{"shortcode":"blob","url":"https://remote.example/blob.png"}]', 1038, 1039, 1040, 1700000000041, 1700000000042, 1, 1700000000044, 1700000000045, 1, 3, 1, 1, 2, '["blog.example"]', 'avatar description of accounts', 'header description of accounts', 1, 1, 1, 5);
INSERT INTO accounts_fts (rowid, nickname, display_name) VALUES (1, 'nickname words', 'display_name words');
INSERT INTO link_checks (account_id, due_at)
VALUES (1, 1700000000050);
INSERT INTO users (account_id, email, email_key, pending_email, password_hash, is_admin, is_moderator, confirmed_at, approved_at, deactivated_at, reset_required, registration_reason, locale, note, fields, default_visibility, default_sensitive, default_language, default_quote_policy, default_interaction_policies, no_rich_text, show_role, skip_thread_containment, allow_following_move, block_from_strangers, hide_notification_contents, totp_secret, totp_pending, totp_step, last_active_at)
VALUES (1, 'email of users', 'email key of users', 'pending email of users', 'password hash of users', 1, 1, 1700000000057, 1700000000058, 1700000000059, 1, 'registration reason of users', 'locale of users', 'note of users', '[{"name":"a","value":"b"}]', 4, 1, 'default language of users', 2, '{"public":3}', 1, 0, 1, 0, 1, 1, 'totp secret of users', 'totp pending of users', 1079, 1700000000080);
INSERT INTO frontend_settings (account_id, name, settings)
VALUES (1, 'fe', '{"a":1}');
INSERT INTO active_weeks (week, users)
VALUES (1, 1082);
INSERT INTO one_time_tokens (hash, kind, account_id, expires_at)
VALUES (x'530000ff', 'change', 1, 1700000000086);
INSERT INTO invites (id, token, expires_on, max_use, uses, used, created_at)
VALUES (1, 'token of invites', 'expires on of invites', 5, 1091, 1, 1700000000093);
INSERT INTO used_captchas (hash, expires_at)
VALUES (x'5e0000ff', 1700000000095);
INSERT INTO sign_in_networks (account_id, hash, seen_at)
VALUES (1, x'610000ff', 1700000000098);
INSERT INTO backup_codes (account_id, hash)
VALUES (1, x'640000ff');
INSERT INTO mfa_challenges (hash, account_id, app_id, purpose, failures, expires_at)
VALUES (x'650000ff', 1, 1, 'purpose of mfa challenges', 1105, 1700000000106);
INSERT INTO oauth_apps (id, client_id, client_secret, name, website, redirect_uris, scopes, trusted, owner_id, created_at)
VALUES (1, 'client id of oauth apps', 'client secret of oauth apps', 'name of oauth apps', 'website of oauth apps', 'redirect uris of oauth apps', 'scopes of oauth apps', 1, 1, 1700000000116);
INSERT INTO oauth_codes (hash, app_id, account_id, redirect_uri, redirect_given, scopes, code_challenge, expires_at, token_id)
VALUES (x'750000ff', 1, 1, 'redirect uri of oauth codes', 1, 'scopes of oauth codes', 'code challenge of oauth codes', 1700000000124, 1);
INSERT INTO oauth_tokens (id, hash, refresh_hash, app_id, account_id, scopes, created_at, last_used_at, expires_at)
VALUES (1, x'7f0000ff', x'800000ff', 1, 1, 'scopes of oauth tokens', 1700000000132, 1700000000133, 1700000000134);
INSERT INTO push_subscriptions (id, token_id, account_id, endpoint, p256dh, auth, token, alerts, policy, standard)
VALUES (1, 1, 1, 'endpoint of push subscriptions', x'8b0000ff', x'8c0000ff', x'8d0000ff', 'alerts of push subscriptions', 'none', 1);
INSERT INTO follows (id, follower_id, target_id, pending, follower_local, show_reblogs, languages, uri)
VALUES (1, 1, 1, 1, 0, 0, '["de"]', 'uri of follows');
INSERT INTO subscriptions (account_id, target_id)
VALUES (1, 1);
INSERT INTO endorsements (account_id, target_id)
VALUES (1, 1);
INSERT INTO blocks (account_id, target_id, uri)
VALUES (1, 1, 'uri of blocks');
INSERT INTO mutes (account_id, target_id, hide_notifications, expires_at)
VALUES (1, 1, 0, 1700000000163);
INSERT INTO domain_blocks (account_id, domain)
VALUES (1, 'domain of domain blocks');
INSERT INTO account_notes (account_id, target_id, comment)
VALUES (1, 1, 'comment of account notes');
INSERT INTO statuses (id, account_id, visibility, reblog_of_id, conversation_id, in_reply_to_id, in_reply_to_account_id, domain, has_media, has_poll, sensitive, replies_count, reblogs_count, favourites_count, quotes_count, quote_of_id, quote_state, quote_policy, interaction_policy, pending_visibility, card_id, list_id, addressed, app_id, created_at, edited_at, expires_at, language, content_type, emojis, uri, url, spoiler_text, text, content, unfederated)
VALUES (1, 1, 1, 1, 1173, 1, 1, 'domain of statuses', 1, 1, 1, 1180, 1181, 1182, 1183, 1, 3, 2, 1187, 5, 1, 1, 1, 1, 1700000000193, 1700000000194, 1700000000195, 'language of statuses', 'content type of statuses', '[{"shortcode":"blob","url":"https://remote.example/blob.png"}]', 'uri of statuses', 'url of statuses', 'spoiler text of statuses', 'text of statuses', 'content of statuses', 1);
INSERT INTO limited_statuses (status_id, visibility)
VALUES (1, 1);
INSERT INTO status_counts (domain, visibility, count)
VALUES ('domain of status counts', 1, 1208);
INSERT INTO statuses_fts (rowid, body, facets) VALUES (1, 'body words', 'facets words');
INSERT INTO cards (id, url, card, fetched_at)
VALUES (1, 'url of cards', 'card of cards', 1700000000212);
INSERT INTO status_edits (id, status_id, created_at, sensitive, spoiler_text, text, content, content_type, media, poll)
VALUES (1, 1, 1700000000215, 1, 'spoiler text of status edits', 'text of status edits', 'content of status edits', 'content type of status edits', 'media of status edits', '["yes","no"]');
INSERT INTO polls (id, status_id, multiple, hide_totals, expires_at, closed, voters_count, fetched_at, options)
VALUES (1, 1, 1, 1, 1700000000227, 1, 1229, 1700000000230, 'options of polls');
INSERT INTO poll_votes (poll_id, account_id, choice)
VALUES (1, 1, 1);
INSERT INTO scheduled_statuses (id, account_id, app_id, scheduled_at, draft)
VALUES (1, 1, 1, 1700000000238, 'draft of scheduled statuses');
INSERT INTO recipients (status_id, account_id, position, mentioned, direct)
VALUES (1, 1, 1242, 1, 1);
INSERT INTO tags (id, name, key)
VALUES (1, 'name of tags', 'name of tags');
INSERT INTO status_tags (tag_id, status_id, position, visibility, name)
VALUES (1, 1, 1249, 1250, 'name of status tags');
INSERT INTO tag_follows (id, account_id, tag_id)
VALUES (1, 1, 1);
INSERT INTO account_tags (account_id, tag_id, statuses_count, last_status_id)
VALUES (1, 1, 1256, 1257);
INSERT INTO featured_tags (id, account_id, tag_id)
VALUES (1, 1, 1);
INSERT INTO media (id, account_id, status_id, message_id, scheduled_id, position, is_mascot, type, mime, file, thumbnail, remote_url, preview_url, description, size, width, height, preview_width, preview_height, duration, frame_rate, blurhash, focus_x, focus_y, created_at, detached_at)
VALUES (1, 1, 1, 1, 1, 1266, 1, 'unknown', 'mime of media', 'file of media', 'thumbnail of media', 'remote url of media', 'preview url of media', 'description of media', 1275, 1276, 1277, 1278, 1279, 1280, 0.5, 'blurhash of media', 0.5, 0.5, 1700000000285, 1700000000286);
INSERT INTO media_bans (id, address, sha256, banned_at)
VALUES (1, 'address of media bans', 'sha256 of media bans', 1700000000290);
INSERT INTO stored_files (name, class, bytes, sha256)
VALUES ('name of stored files', 'profiles', 1293, 'sha256 of stored files');
INSERT INTO storage_alerts (id, reason, notified_at)
VALUES (1, 'reason of storage alerts', 1700000000296);
INSERT INTO server_backups (id, attempted_at, succeeded_at, file, bytes, duration, damaged, last_error, notified)
VALUES (1, 1700000000298, 1700000000299, 'file of server backups', 1301, 1302, 1303, 'last error of server backups', 1);
INSERT INTO storage_usage (class, count, bytes)
VALUES ('remote_posts', 1307, 1308);
INSERT INTO favourites (id, account_id, status_id, uri, pending, approval)
VALUES (1, 1, 1, 'uri of favourites', 1, 'approval of favourites');
INSERT INTO reactions (id, account_id, status_id, emoji, url, uri)
VALUES (1, 1, 1, 'emoji of reactions', 'url of reactions', 'uri of reactions');
INSERT INTO reaction_counts (status_id, emoji, url, count, first_id)
VALUES (1, 'emoji of reaction counts', 'url of reaction counts', 1324, 1325);
INSERT INTO bookmark_folders (id, account_id, name, emoji)
VALUES (1, 1, 'name of bookmark folders', 'emoji of bookmark folders');
INSERT INTO bookmarks (id, account_id, status_id, folder_id)
VALUES (1, 1, 1, 1);
INSERT INTO pins (status_id, account_id, pinned_at)
VALUES (1, 1, 1700000000336);
INSERT INTO thread_mutes (account_id, conversation_id, expires_at)
VALUES (1, 1, 1700000000339);
INSERT INTO direct_conversations (id, account_id, conversation_id, last_status_id, read_id, recipients)
VALUES (1, 1, 1342, 1, 1344, 'recipients of direct conversations');
INSERT INTO filters (id, account_id, title, context, action, expires_at)
VALUES (1, 1, 'title of filters', 'context of filters', 'blur', 1700000000351);
INSERT INTO filter_keywords (id, filter_id, keyword, whole_word)
VALUES (1, 1, 'keyword of filter keywords', 1);
INSERT INTO filter_statuses (id, filter_id, status_id)
VALUES (1, 1, 1);
INSERT INTO home (account_id, status_id)
VALUES (1, 1);
INSERT INTO lists (id, account_id, title, replies_policy, exclusive)
VALUES (1, 1, 'title of lists', 'none', 1);
INSERT INTO list_members (list_id, account_id)
VALUES (1, 1);
INSERT INTO list_timeline (list_id, status_id)
VALUES (1, 1);
INSERT INTO chats (id, account_id, other_id, position, updated_at)
VALUES (1, 1, 1, 1373, 1700000000374);
INSERT INTO chat_messages (id, account_id, recipient_id, uri, created_at, content, emojis)
VALUES (1, 1, 1, 'uri of chat messages', 1700000000379, 'content of chat messages', 'emojis of chat messages');
INSERT INTO chat_copies (id, chat_id, message_id, unread)
VALUES (1, 1, 1, 1);
INSERT INTO chat_message_keys (account_id, key, message_id, created_at)
VALUES (1, 'key of chat message keys', 1, 1700000000389);
INSERT INTO notifications (id, account_id, type, from_id, status_id, message_id, detail, read, muted, filtered)
VALUES (1, 1, 'pending.reblog', 1, 1, 1, 'detail of notifications', 1, 1, 1);
INSERT INTO notification_policies (account_id, for_not_following, for_not_followers, for_new_accounts, for_private_mentions, for_limited_accounts)
VALUES (1, 1, 2, 2, 2, 2);
INSERT INTO notification_requests (id, account_id, from_id)
VALUES (1, 1, 1);
INSERT INTO notification_permissions (account_id, target_id)
VALUES (1, 1);
INSERT INTO scrobbles (id, account_id, visibility, title, artist, album, length, external_link, created_at, uri)
VALUES (1, 1, 4, 'title of scrobbles', 'artist of scrobbles', 'album of scrobbles', 1417, 'external link of scrobbles', 1700000000419, 'uri of scrobbles');
INSERT INTO reports (id, account_id, target_id, state, category, comment, forwarded, state_at, decided_by_id, assigned_id, rules, uri, collections)
VALUES (1, 1, 1, 'resolved', 'other', 'comment of reports', 1, 1700000000428, 1, 1, '["be kind"]', 'uri of reports', '[{"id":"","uri":"","url":"","name":"a","description":"b"}]');
INSERT INTO report_notes (id, report_id, account_id, content)
VALUES (1, 1, 1, 'content of report notes');
INSERT INTO report_statuses (report_id, position, status_id, original_status_id, uri, spoiler_text, content, created_at)
VALUES (1, 1, 1, 1440, 'uri of report statuses', 'spoiler text of report statuses', 'content of report statuses', 1700000000444);
INSERT INTO announcements (id, text, content, starts_at, ends_at, all_day, updated_at)
VALUES (1, 'text of announcements', 'content of announcements', 1700000000448, 1700000000449, 1, 1700000000451);
INSERT INTO rules (id, priority, text, hint)
VALUES (1, 1453, 'text of rules', 'hint of rules');
INSERT INTO announcement_reads (announcement_id, account_id)
VALUES (1, 1);
INSERT INTO announcement_reactions (id, announcement_id, account_id, emoji)
VALUES (1, 1, 1, 'emoji of announcement_reactions');
INSERT INTO markers (account_id, timeline, last_read_id, version, updated_at)
VALUES (1, 'notifications', 1460, 1461, 1700000000462);
INSERT INTO idempotency_keys (account_id, key, created_id, created_at)
VALUES (1, 'key of idempotency keys', 1465, 1700000000466);
INSERT INTO actors (account_id, inbox, shared_inbox, outbox, followers, following, featured, fetched_at, attempted_at, failures, moved_at, moved_to, suspended, handle_verified_at, collections_fetched_at)
VALUES (1, 'inbox of actors', 'shared inbox of actors', 'outbox of actors', 'followers of actors', 'following of actors', 'featured of actors', 1700000000474, 1700000000475, 1476, 1700000000477, 'moved to of actors', 1, 1700000000480, 1700000000481);
INSERT INTO actor_keys (uri, account_id, public, private, created_at, announced, retired_at)
VALUES ('uri of actor keys', 1, 'public of actor keys', x'e50100ff', 1700000000486, 0, 1700000000488);
INSERT INTO hosts (domain, due_at, failures, backoff_until, unreachable_since, last_success_at, last_error, signature, path_only, signature_at, software, version, checked_at, ed25519, ed25519_at)
VALUES ('domain of hosts', 1700000000490, 1491, 1492, 1493, 1700000000494, 'last error of hosts', 'neither', 1, 1700000000498, 'software of hosts', 'version of hosts', 1700000000501, 'ed25519 of hosts', 1700000000502);
INSERT INTO host_blocks (id, host, allow, private_comment)
VALUES (1, 'host of host blocks', 1, 'private comment of host blocks');
INSERT INTO email_domain_blocks (id, domain, allow_with_approval)
VALUES (1, 'domain of email domain blocks', 1);
INSERT INTO canonical_email_blocks (id, hash)
VALUES (1, 'hash of canonical email blocks');
INSERT INTO ip_blocks (id, ip, severity, comment, expires_at)
VALUES (1, 'ip of ip blocks', 'no_access', 'comment of ip blocks', 1700000000515);
INSERT INTO instance_purges (domain, requested_at, accounts, statuses, accounts_done, statuses_done, began_at, finished_at)
VALUES ('domain of instance purges', 1700000000517, 1518, 1519, 1520, 1521, 1700000000522, 1700000000523);
INSERT INTO server_closure (id, began_at, accounts, last_position, listed_at, finished_at)
VALUES (1, 1700000000501, 1502, 1503, 1700000000504, 1700000000505);
INSERT INTO server_closure_inboxes (domain, inbox, position, queued)
VALUES ('domain of server closure inboxes', 'inbox of server closure inboxes', 1506, 1507);
INSERT INTO activities (id, account_id, status_id, body)
VALUES (1, 1, 1526, 'body of activities');
INSERT INTO deliveries (id, activity_id, inbox, domain, priority, subject, run_at, attempts, parked, last_error)
VALUES (1, 1, 'inbox of deliveries', 'domain of deliveries', 3, 1533, 1700000000534, 1535, 1, 'last error of deliveries');
INSERT INTO queued_activities (id, signer_id, recipient_id, received_at, run_at, attempts, parked, last_error, body)
VALUES (1, 1, 1, 1700000000541, 1700000000542, 1543, 1, 'last error of queued activities', 'body of queued activities');
INSERT INTO seen_activities (hash, seen_at, source)
VALUES (x'230200ff', 1700000000548, 1549);
INSERT INTO refusals (id, uri, object, domain, reason)
VALUES (1, 'uri of refusals', 'object of refusals', 'domain of refusals', 'reason of refusals');
INSERT INTO remote_statuses (status_id, parent_uri, quote_uri, replies_uri, replies_at, fetched_at, authorization, approval, quiet)
VALUES (1, 'parent uri of remote statuses', 'quote uri of remote statuses', 'replies uri of remote statuses', 1700000000559, 1700000000560, 'authorization of remote statuses', 'approval of remote statuses', 1);
INSERT INTO threads (conversation_id, uri)
VALUES (1, 'uri of threads');
INSERT INTO quote_authorizations (id, status_id, account_id, quote_uri, request_uri)
VALUES (1, 1, 1, 'quote uri of quote authorizations', 'request uri of quote authorizations');
INSERT INTO interaction_requests (id, author_id, status_id, account_id, domain, interaction, favourite_id, interacting_id, uri, request_uri, accepted_at)
VALUES (1, 1, 1, 1, 'domain of interaction requests', 2, 1, 1, 'uri of interaction requests', 'request uri of interaction requests', 1700000000580);
INSERT INTO collections (id, account_id, uri, url, name, description, language, tag, sensitive, discoverable, item_count, updated_at)
VALUES (1, 2, 'uri of collections', 'url of collections', 'name of collections', 'description of collections', 'language of collections', 'tag of collections', 1, 1, 1601, 1700000000602);
INSERT INTO collection_items (id, collection_id, target_id, account_id, domain, state, request_uri, item_uri, authorization_uri)
VALUES (1, 1, 1, 2, 'domain of collection items', 3, 'request uri of collection items', 'item uri of collection items', 'authorization uri of collection items');
INSERT INTO relays (id, address, inbox, account_id, litepub, follow_uri, accepted)
VALUES (1, 'address of relays', 'inbox of relays', 1, 1, 'follow uri of relays', 1);
INSERT INTO status_fetchers (status_id, inbox)
VALUES (1, 'inbox of status fetchers');
INSERT INTO tombstones (uri, deleted_at, kind)
VALUES ('uri of tombstones', 1700000000591, 'kind of tombstones');
INSERT INTO old_addresses (path, status_id)
VALUES ('path of old addresses', 1);
INSERT INTO old_media (path, target)
VALUES ('path of old media', 'target of old media');
INSERT INTO dead_addresses (path)
VALUES ('path of dead addresses');
INSERT INTO dead_nicknames (nickname_key)
VALUES ('nickname key of dead nicknames');
INSERT INTO imports (id, account_id, kind, total, imported, skipped, finished_at)
VALUES (1, 1, 'bookmarks', 1596, 1597, 1598, 1700000000599);
INSERT INTO import_entries (import_id, position, state, target, options, reason)
VALUES (1, 1, 'skipped', 'target of import entries', 'options of import entries', 'reason of import entries');
INSERT INTO archives (id, account_id, file, uploaded, by_staff, public, origin, actor_uri, state, size, received, total, position, imported, files, skipped, error, finished_at, emoji)
VALUES (1, 1, 'file of archives', 1, 1, 1, 'origin of archives', 'actor uri of archives', 'failed', 1701, 1702, 1703, 1704, 1705, 1706, 1707, 'error of archives', 1700000000708, 1);
INSERT INTO archive_skips (id, archive_id, item, reason)
VALUES (1, 1, 'item of archive skips', 'reason of archive skips');
INSERT INTO imported_statuses (status_id, account_id, archive_id, original_uri, original_url)
VALUES (1, 1, 1, 'original uri of imported statuses', 'original url of imported statuses');
INSERT INTO removed_originals (account_id, original_uri, archive_id)
VALUES (1, 'original uri of removed originals', 1);
INSERT INTO account_backups (id, account_id, file, state, size, attempts, last_error)
VALUES (1, 1, 'file of account backups', 'failed', 1610, 1611, 'last error of account backups');
INSERT INTO moderation_log (id, actor_id, actor, action, message, data)
VALUES (1, 1, 'actor of moderation log', 'action of moderation log', 'message of moderation log', 'data of moderation log');
INSERT INTO settings (group_name, key, value)
VALUES ('group name of settings', 'key of settings', '"value of settings"');
INSERT INTO jobs (id, kind, payload, unique_key, domain, run_at, delayed, attempts, parked, last_error)
VALUES (1, 'kind of jobs', 'payload of jobs', 'unique key of jobs', 'domain of jobs', 1700000000627, 1, 1629, 1, 'last error of jobs');
UPDATE meta SET schema_hash = '9347e062f2eb3104238fb7e820f138df1b3da8106ab48872c1623766761ff3b8';
PRAGMA user_version = 16;
