{{ landed('gallery_items') }}
